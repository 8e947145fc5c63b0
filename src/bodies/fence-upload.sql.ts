import type { StepKind } from '../domain/contract/contract.js';
import type { StepState } from '../domain/states.js';
import { type Read, read } from '../platform/database/statement.js';
import { promises, someStepPromises } from './outputs.sql.js';

/** Where an upload is to go, and by what right. */
export interface Upload {
  run_id: string;
  seq: number;
  name: string;
  /** Undefined: the current one. */
  attempt: number | undefined;
  nonce: string;
  /** The only node that the caller speaks for; undefined: an operator, who speaks for all. */
  speaker: string | undefined;
}

export interface StepHeld {
  state: StepState;
  attempt: number;
  node_id: string;
  /** The node that holds the run by the nonce; null: there is none. */
  holder: string | null;
  kind: StepKind;
  /** Who promises the output: this step, another one, none; null where no output is meant. */
  promised_by: 'this' | 'other' | 'none' | null;
}

/** The step of the (locked) run, who holds the run by this nonce, and who promises the output. Undefined: there is no such step. */
export function readStepHeld(
  runId: string,
  seq: number,
  nonce: string,
  output: string | undefined,
): Read<StepHeld | undefined> {
  return read({
    name: 'bodies.read-step-held',
    text: `
     SELECT s.state, s.attempt, s.node_id,
            (SELECT l.node_id FROM leases l WHERE l.run_id = s.run_id AND l.nonce = $3) AS holder, s.kind,
            CASE WHEN $4::text IS NULL THEN NULL
                 WHEN ${promises('r.contract', 's.seq', '$4')} THEN 'this'
                 WHEN ${someStepPromises('r.contract', '$4')} THEN 'other'
                 ELSE 'none' END AS promised_by
       FROM steps s JOIN runs r USING (run_id) WHERE s.run_id = $1 AND s.seq = $2`,
    params: [runId, seq, nonce, output ?? null],
    as: (rows: StepHeld[]) => rows[0],
  });
}

/** Of the uploads under way, by their place in the list: those that would not be taken any more, as their step stands. */
export function findEndedUploads(uploads: Upload[]): Read<number[]> {
  return read({
    name: 'bodies.find-ended-uploads',
    text: `
     SELECT (w.place - 1)::int AS place
       FROM unnest($1::text[], $2::int[], $3::int[], $4::text[]) WITH ORDINALITY AS w (run_id, seq, attempt, nonce, place)
      WHERE NOT EXISTS (
              SELECT FROM steps s
                JOIN runs r ON r.run_id = s.run_id AND r.state = 'RUNNING'
                JOIN leases l ON l.node_id = s.node_id AND l.run_id = s.run_id AND l.nonce = w.nonce
               WHERE s.run_id = w.run_id COLLATE "C" AND s.seq = w.seq AND s.state = 'CLAIMED'
                 AND s.attempt = coalesce(w.attempt, s.attempt))`,
    params: [
      uploads.map((one) => one.run_id),
      uploads.map((one) => one.seq),
      uploads.map((one) => one.attempt ?? null),
      uploads.map((one) => one.nonce),
    ],
    as: (rows: { place: number }[]) => rows.map((row) => row.place),
  });
}

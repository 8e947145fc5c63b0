import type { StepState } from '../domain/states.js';
import type { StepKind } from '../domain/contract/contract.js';
import { promises, someStepPromises } from '../records/promises.sql.js';
import type { Tx } from '../platform/database/queryable.js';

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
export async function readStepHeld(
  tx: Tx,
  runId: string,
  seq: number,
  nonce: string,
  output: string | undefined,
): Promise<StepHeld | undefined> {
  const { rows } = await tx.query<StepHeld>(
    `/* execution.read-step-held */
     SELECT s.state, s.attempt, s.node_id,
            (SELECT l.node_id FROM leases l WHERE l.run_id = s.run_id AND l.nonce = $3) AS holder, s.kind,
            CASE WHEN $4::text IS NULL THEN NULL
                 WHEN ${promises('r.contract', 's.seq', '$4')} THEN 'this'
                 WHEN ${someStepPromises('r.contract', '$4')} THEN 'other'
                 ELSE 'none' END AS promised_by
       FROM steps s JOIN runs r USING (run_id) WHERE s.run_id = $1 AND s.seq = $2`,
    [runId, seq, nonce, output ?? null],
  );
  return rows[0];
}

import { rawJson } from '../domain/json/raw-json.js';
import { type Read, read, type Write, write } from '../platform/database/statement.js';
import { time, type Wait, WAITS } from './waits.sql.js';

/** A record as it is kept: its small files by path, the list of the sums of all its files, and what seals them. */
export interface RenderedRecord {
  files: Record<string, string>;
  sums: string;
  digest: string;
}

/** As a part of a statement that has a part `run (run_id)`: opens the record of the run that it creates, whatever the outcome. */
export const OPEN_RECORD = '/* records.open */ INSERT INTO records (run_id) SELECT run_id FROM run';

/** Closes the record of a run: the last statement of the transaction that ends it. Afterwards the database refuses changes. */
export function closeRecord(runId: string): Write<void> {
  return write({
    name: 'records.close',
    text: 'UPDATE records SET closed_at = clock_timestamp() WHERE run_id = $1 AND closed_at IS NULL',
    params: [runId],
    otherwise: 'record_closed',
  });
}

/** Runs that are over and whose record lacks its digest, the longest closed first. */
export function readUnsealed(limit: number): Read<string[]> {
  return read({
    name: 'records.read-unsealed',
    text: `
     SELECT run_id FROM records WHERE digest IS NULL AND closed_at IS NOT NULL ORDER BY closed_at LIMIT $1`,
    params: [limit],
    as: (rows: { run_id: string }[]) => rows.map((row) => row.run_id),
  });
}

type ClosedStep = Record<string, unknown> & { seq: number; id: string } & Record<
    'attempts' | 'asks',
    Record<string, unknown>[]
  >;

/** What a closed record is rendered from. Times are RFC 3339 texts already. */
export interface ClosedRun {
  run: Record<string, unknown> & { run_id: string; state: string; verdict: object };
  /** Every time that it waited, the first first. */
  waited: Wait[];
  grants: Record<string, unknown>[];
  /** Each with its attempts, and with what it asked. */
  steps: ClosedStep[];
  closed_at: Date;
}

/** Everything of a run whose record is closed, so that no later statement can see it change. Undefined: it is not closed. */
export function readClosed(runId: string): Read<ClosedRun | undefined> {
  return read({
    name: 'records.read-closed',
    text: `
     SELECT c.closed_at,
       json_build_object(
         'run_id', r.run_id, 'state', r.state, 'principal', r.principal, 'work_id', r.work_id,
         'contract', r.contract::text, 'contract_sha256', r.contract_hash, 'assigned', coalesce(r.assigned, '[]'),
         'created_at', ${time('r.created_at')}, 'started_at', ${time('r.started_at')},
         'ended_at', ${time('r.ended_at')}, 'verdict', r.verdict) AS run,
       ${WAITS} AS waited,
       coalesce((
         SELECT json_agg(json_build_object(
                  'node_id', g.node_id, 'roles', g.roles, 'granted_at', ${time('g.granted_at')},
                  'released_at', ${time('g.released_at')}, 'why', g.why) ORDER BY g.grant_id)
           FROM grants g WHERE g.run_id = r.run_id), '[]') AS grants,
       coalesce((
         SELECT json_agg(json_build_object(
                  'seq', s.seq, 'id', s.id, 'kind', s.kind, 'uses', s.uses, 'state', s.state,
                  'node_id', nullif(s.node_id, ''), 'needs', s.needs, 'attempt', s.attempt, 'chosen', s.chosen,
                  'started_at', ${time('s.started_at')}, 'ended_at', ${time('s.ended_at')}, 'result', s.result::text,
                  'attempts', coalesce((
                    SELECT json_agg(json_build_object(
                             'attempt', a.attempt, 'node_id', nullif(a.node_id, ''), 'instance', nullif(a.instance, ''),
                             'state', a.state, 'started_at', ${time('a.started_at')}, 'ended_at', ${time('a.ended_at')},
                             'result', a.result::text) ORDER BY a.attempt)
                      FROM attempts a WHERE a.run_id = s.run_id AND a.seq = s.seq), '[]'),
                  'asks', coalesce((
                    SELECT json_agg(json_build_object(
                             'attempt', q.attempt, 'state', q.state, 'prompt', q.prompt, 'output', q.output,
                             'schema', q.schema::text, 'answerers', q.answerers, 'show', q.show,
                             'asked_at', ${time('q.asked_at')}, 'deadline', ${time('q.deadline')},
                             'ended_at', ${time('q.ended_at')}, 'answer', q.answer::text,
                             'answered_by', q.answered_by) ORDER BY q.attempt)
                      FROM asks q WHERE q.run_id = s.run_id AND q.seq = s.seq), '[]')) ORDER BY s.seq)
           FROM steps s WHERE s.run_id = r.run_id), '[]') AS steps
       FROM records c JOIN runs r USING (run_id)
      WHERE c.run_id = $1 AND c.closed_at IS NOT NULL`,
    params: [runId],
    as: (rows: ClosedRun[]) => {
      const [closed] = rows;
      return closed && { ...closed, run: asSent(closed.run, 'contract'), steps: closed.steps.map(stepAsSent) };
    },
  });
}

function stepAsSent({ attempts, asks, ...step }: ClosedStep): ClosedStep {
  return {
    ...asSent(step, 'result'),
    attempts: attempts.map((attempt) => asSent(attempt, 'result')),
    asks: asks.map((ask) => asSent(ask, 'schema', 'answer')),
  };
}

/** What was sent as JSON comes as text, so that it goes into the record letter by letter. */
function asSent<T extends Record<string, unknown>>(of: T, ...names: (keyof T)[]): T {
  const raw = names.filter((name) => of[name] !== null).map((name) => [name, rawJson(of[name] as string)]);
  return { ...of, ...(Object.fromEntries(raw) as Partial<T>) };
}

/** Stores the rendered files, their sums and the digest. False: it was sealed meanwhile. */
export function writeSeal(runId: string, { files, sums, digest }: RenderedRecord): Write<boolean> {
  return write({
    name: 'records.write-seal',
    text: `
     UPDATE records SET files = $2, sums = $3, digest = $4, sealed_at = clock_timestamp()
      WHERE run_id = $1 AND digest IS NULL AND closed_at IS NOT NULL`,
    params: [runId, JSON.stringify(files), sums, digest],
    rows: 'any',
    as: (_rows, touched) => touched === 1,
  });
}

export interface StoredRecord {
  closed_at: Date | null;
  files: Record<string, string> | null;
  sums: string | null;
  digest: string | null;
}

/** The record of a run as it is stored; undefined where there is no such run. */
export function readRecord(runId: string): Read<StoredRecord | undefined> {
  return read({
    name: 'records.read',
    text: 'SELECT closed_at, files, sums, digest FROM records WHERE run_id = $1',
    params: [runId],
    as: (rows: StoredRecord[]) => rows[0],
  });
}

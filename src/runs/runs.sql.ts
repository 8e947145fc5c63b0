import type { StepKind } from '../domain/contract/contract.js';
import type { AssignedRole } from '../domain/matching/fleet.js';
import type { FinalState, StepState } from '../domain/states.js';
import type { Verdict } from '../domain/verdict.js';
import type { Database } from '../platform/database/database.js';
import { type Read, read } from '../platform/database/statement.js';
import type { QueuedPlace } from '../queue/explain-waiting.js';

/** What the version of a run is made of. */
export interface Versioned {
  version: string;
  digest: string | null;
  purged: boolean;
}

/** What is JSON of the contract is a text here, as it was sent. */
interface AnyRunRow extends Omit<QueuedPlace, 'queued_at' | 'requires'> {
  version: string;
  principal: string;
  work_id: string | null;
  work: string | null;
  requires: string;
  assigned: AssignedRole[] | null;
  contract_hash: string;
  digest: string | null;
  purged: boolean;
  created_at: Date;
}

/** What a run has in which state; the CHECKs of the table are the same. */
export type RunRow = AnyRunRow &
  (
    | { state: 'QUEUED'; verdict: null; queued_at: Date; started_at: null; ended_at: null }
    | { state: 'RUNNING'; verdict: null; queued_at: Date | null; started_at: Date; ended_at: null }
    | { state: FinalState; verdict: Verdict; queued_at: Date | null; started_at: Date | null; ended_at: Date }
  );

/** A run `r` with its record `c`. */
export const RUN_COLUMNS = `
  r.run_id, r.state, r.version, r.principal, r.work_id, (r.contract->'work')::text AS work,
  r.requires::text AS requires, r.spread, r.signature,
  r.assigned, r.verdict, r.contract_hash, c.digest, c.purged_at IS NOT NULL AS purged,
  r.queued_at, r.created_at, r.started_at, r.ended_at,
  json_build_object('created_at', r.created_at::text, 'seq', r.seq::text) AS place`;

/** One run; undefined where there is none of that id. */
function readRun(runId: string): Read<RunRow | undefined> {
  return read({
    name: 'runs.read',
    text: `SELECT ${RUN_COLUMNS} FROM runs r JOIN records c USING (run_id) WHERE r.run_id = $1`,
    params: [runId],
    as: (rows: RunRow[]) => rows[0],
  });
}

export interface StepRow {
  seq: number;
  id: string;
  kind: StepKind;
  uses: string | null;
  state: StepState;
  node_id: string;
  needs: string[];
  attempt: number;
  chosen: boolean;
  started_at: Date | null;
  ended_at: Date | null;
  /** JSON, with an answer as it was sent. */
  result: string | null;
}

export const STEP_COLUMNS =
  'seq, id, kind, uses, state, node_id, needs, attempt, chosen, started_at, ended_at, result::text AS result';

/** The steps of a run in the contract's order. */
function readSteps(runId: string): Read<StepRow[]> {
  return read({
    name: 'runs.read-steps',
    text: `SELECT ${STEP_COLUMNS} FROM steps WHERE run_id = $1 ORDER BY seq`,
    params: [runId],
    as: (rows: StepRow[]) => rows,
  });
}

/** A run as it is stored, with its steps. */
export interface StoredRun {
  row: RunRow;
  steps: StepRow[];
}

/** Undefined where there is no such run. */
export async function readStored(database: Database, runId: string): Promise<StoredRun | undefined> {
  const [row, steps] = await Promise.all([database.ask(readRun(runId)), database.ask(readSteps(runId))]);
  return row && { row, steps };
}

/** What the version of a run is made of, now; to be asked behind the run's lock. */
export function readVersion(runId: string): Read<Versioned> {
  return read({
    name: 'runs.read-version',
    text: `
     SELECT r.version, c.digest, c.purged_at IS NOT NULL AS purged
       FROM runs r JOIN records c USING (run_id) WHERE r.run_id = $1`,
    params: [runId],
    as: (rows: Versioned[]) => rows[0]!,
  });
}

/** Who submitted the run. Undefined: there is no such run. */
export function readPrincipal(runId: string): Read<string | undefined> {
  return read({
    name: 'runs.read-principal',
    text: 'SELECT principal FROM runs WHERE run_id = $1',
    params: [runId],
    as: (rows: { principal: string }[]) => rows[0]?.principal,
  });
}

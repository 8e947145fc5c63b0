import type { StepKind } from '../domain/contract/contract.js';
import type { AssignedRole } from '../domain/matching/fleet.js';
import type { FinalState, RunState, StepState } from '../domain/states.js';
import type { Verdict } from '../domain/verdict.js';
import type { Database } from '../platform/database/database.js';
import { type Read, read } from '../platform/database/statement.js';
import type { Keyset } from '../platform/http/cursor.js';
import { PAGE_BYTES } from '../platform/http/fill-page.js';
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

export interface RunFilter {
  state?: RunState;
  work_id?: string;
  principal?: string;
}

/** A row of a page, and about how large it is. */
export type PagedRun = RunRow & { bytes: number };

/** About what of a run `r` a list shows. Of the contract, which is read for it, an eighth: most of it is not shown. */
const SHOWN_BYTES = `
  (octet_length(r.requires::text) + coalesce(octet_length(r.assigned::text), 0) + coalesce(octet_length(r.verdict::text), 0)
   + octet_length(r.contract::text) / 8)`;

/**
 * A page of runs, the newest first, before the given place: at most so many, and no more than fill the bytes; `more`: there
 * are others behind them. Goes from one to the next, so that it does not read what is not on the page. What has an index of
 * its own is asked for only where it is wanted.
 */
export function readRunPage(
  filter: RunFilter,
  limit: number,
  before: Keyset | undefined,
): Read<{ rows: PagedRun[]; more: boolean }> {
  const next = `
    r.run_id, r.created_at, r.seq, ${SHOWN_BYTES} AS bytes
      FROM runs r
     WHERE ${filter.state === undefined ? '$1::text IS NULL' : 'r.state = $1'}
       AND ${filter.work_id === undefined ? '$2::text IS NULL' : 'r.work_id = $2'}
       AND ($3::text IS NULL OR r.principal = $3)`;
  return read({
    name: 'runs.read-page',
    text: `
     WITH RECURSIVE page AS (
       (SELECT first.*, 1 AS n, 0 AS before
          FROM (SELECT ${next}
                   AND (r.created_at, r.seq) < (coalesce($4::timestamptz, 'infinity'), coalesce($5::bigint, 9223372036854775807))
                 ORDER BY r.created_at DESC, r.seq DESC LIMIT 1) AS first)
        UNION ALL
       SELECT next.*, page.n + 1, page.before + page.bytes
         FROM page CROSS JOIN LATERAL (SELECT ${next}
                   AND (r.created_at, r.seq) < (page.created_at, page.seq)
                 ORDER BY r.created_at DESC, r.seq DESC LIMIT 1) AS next
        WHERE page.n <= $6 AND page.before < $7)
     SELECT ${RUN_COLUMNS}, page.bytes, (SELECT max(n) FROM page) AS reached
       FROM page JOIN runs r USING (run_id) JOIN records c USING (run_id)
      WHERE page.n <= $6 AND page.before < $7 ORDER BY page.n`,
    params: [
      filter.state ?? null,
      filter.work_id ?? null,
      filter.principal ?? null,
      before?.created_at ?? null,
      before?.seq ?? null,
      limit,
      PAGE_BYTES,
    ],
    as: (rows: (PagedRun & { reached: number })[]) => ({
      rows,
      more: rows.length > 0 && rows[0]!.reached > rows.length,
    }),
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

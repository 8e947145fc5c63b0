import type { Requirement } from '../domain/contract/contract.js';
import {
  type Changes,
  SNAPSHOT_MARK,
  type SnapshotMark,
  UNSEEN,
  KEPT_SECONDS,
} from '../platform/cache/cached-table.js';
import type { Queryable, Tx } from '../platform/database/queryable.js';
import type { Keyset } from '../platform/http/cursor.js';

/** A queued run as the memory needs to know it. */
export interface RunState {
  run_id: string;
  signature: string;
  spread: boolean;
  serverSteps: boolean;
  arrived: number;
  seq: number;
  /** At least once for each signature that is not known; the other runs of it need not have it. */
  requires?: Requirement[] | null;
}

/** `gone`: runs that are queued no more. */
export interface QueueChanges extends Changes {
  runs: RunState[];
}

/** More changes than this are not read one by one. */
const MOST_CHANGES = 5000;

const RUN = `run_id, signature, spread, alone AS "serverSteps", (extract(epoch FROM created_at) * 1000000)::float8 AS arrived, seq::float8 AS seq`;

/** Now, as the database sees it. */
export async function readSnapshotMark(database: Queryable): Promise<SnapshotMark> {
  const { rows } = await database.query<SnapshotMark>(`/* queue.read-snapshot-mark */ SELECT ${SNAPSHOT_MARK}`);
  return rows[0]!;
}

/** What was changed since that snapshot; some of it may be known already. Too much of it counts as all of it. */
export async function readQueueChanges(database: Queryable, since: string): Promise<QueueChanges> {
  // Whatever the planner thinks of how many changes there are, the order keeps it to their index, and OFFSET 0 to a look-up
  // of each run, by its id and not by its state: on a table that is not analyzed it would read all of either instead.
  const { rows } = await database.query<QueueChanges & { noted: number }>(
    `/* queue.read-changes */
     WITH noted AS MATERIALIZED (SELECT run_id FROM queue_changes WHERE ${UNSEEN} ORDER BY changed LIMIT $2),
     now_so AS MATERIALIZED (
       SELECT c.run_id AS noted, q.* FROM (SELECT DISTINCT run_id FROM noted) AS c LEFT JOIN LATERAL (
         SELECT r.run_id, r.signature, r.spread, r.alone, r.requires, r.created_at, r.seq FROM runs r
          WHERE r.run_id = c.run_id AND (r.state = 'QUEUED') IS TRUE OFFSET 0) AS q ON true)
     SELECT ${SNAPSHOT_MARK}, (SELECT count(*) FROM noted)::int AS noted,
            ARRAY(SELECT noted FROM now_so WHERE run_id IS NULL) AS gone,
            coalesce((SELECT json_agg(one) FROM (
              SELECT ${RUN}, CASE WHEN row_number() OVER (PARTITION BY signature) = 1 THEN requires END AS requires
                FROM now_so WHERE run_id IS NOT NULL) AS one), '[]') AS runs`,
    [since, MOST_CHANGES + 1],
  );
  const { noted, ...changes } = rows[0]!;
  if (noted > MOST_CHANGES) changes.gone.push('');
  return changes;
}

/** So many of the queued runs in order of arrival, behind a cursor, or from the first; without what they require. */
export async function readQueuedRuns(
  database: Queryable,
  limit: number,
  after: { created_at: string; seq: number } | undefined,
): Promise<(RunState & { created_at: string })[]> {
  const { rows } = await database.query<RunState & { created_at: string }>(
    `/* queue.read-runs */
     SELECT created_at::text AS created_at, ${RUN} FROM runs r
      WHERE state = 'QUEUED' AND (r.created_at, r.seq) > (coalesce($2::timestamptz, '-infinity'), coalesce($3::bigint, 0))
      ORDER BY r.created_at, r.seq LIMIT $1`,
    [limit, after?.created_at ?? null, after?.seq ?? null],
  );
  return rows;
}

/** What these runs require, by run id; one that is not there is left out. */
export async function readRequires(database: Queryable, runIds: string[]): Promise<Map<string, Requirement[]>> {
  const { rows } = await database.query<{ run_id: string; requires: Requirement[] }>(
    '/* queue.read-requires */ SELECT run_id, requires FROM runs WHERE run_id = ANY ($1::text[])',
    [runIds],
  );
  return new Map(rows.map(({ run_id, requires }) => [run_id, requires]));
}

export interface QueueRow {
  run_id: string;
  work_id: string | null;
  principal: string;
  /** JSON, as it was sent. */
  requires: string;
  spread: boolean;
  queued_at: Date;
  created_at: Date;
  place: Keyset;
}

/** These runs, whatever they are by now, in order of arrival. */
export async function readQueuePage(database: Queryable, runIds: string[]): Promise<QueueRow[]> {
  const { rows } = await database.query<QueueRow>(
    `/* queue.read-page */
     SELECT run_id, work_id, principal, requires::text AS requires, spread, queued_at, created_at,
            json_build_object('created_at', created_at::text, 'seq', seq::text) AS place
       FROM runs WHERE run_id = ANY ($1::text[]) ORDER BY created_at, seq`,
    [runIds],
  );
  return rows;
}

/** Forgets changes that everybody who keeps the queue in memory has read, or has given up to. False: there were none. */
export async function forgetQueueChanges(tx: Tx): Promise<boolean> {
  const { affected } = await tx.query(
    '/* queue.forget-changes */ DELETE FROM queue_changes WHERE at < clock_timestamp() - make_interval(secs => $1)',
    [KEPT_SECONDS],
  );
  return affected > 0;
}

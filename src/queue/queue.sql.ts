import type { Requirement } from '../domain/contract/contract.js';
import {
  type Changes,
  SNAPSHOT_MARK,
  type SnapshotMark,
  UNSEEN,
  KEPT_SECONDS,
} from '../platform/cache/cached-table.js';
import { type Read, read, type Write, write } from '../platform/database/statement.js';
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
export function readSnapshotMark(): Read<SnapshotMark> {
  return read({
    name: 'queue.read-snapshot-mark',
    text: `SELECT ${SNAPSHOT_MARK}`,
    as: (rows: SnapshotMark[]) => rows[0]!,
  });
}

/** What was changed since that snapshot; some of it may be known already. Too much of it counts as all of it. */
export function readQueueChanges(since: string): Read<QueueChanges> {
  return read({
    name: 'queue.read-changes',
    text: `
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
    params: [since, MOST_CHANGES + 1],
    as: (rows: (QueueChanges & { noted: number })[]) => {
      const { noted, ...changes } = rows[0]!;
      if (noted > MOST_CHANGES) changes.gone.push('');
      return changes;
    },
  });
}

/** So many of the queued runs in order of arrival, behind a cursor, or from the first; without what they require. */
export function readQueuedRuns(
  limit: number,
  after: { created_at: string; seq: number } | undefined,
): Read<(RunState & { created_at: string })[]> {
  return read({
    name: 'queue.read-runs',
    text: `
     SELECT created_at::text AS created_at, ${RUN} FROM runs r
      WHERE state = 'QUEUED' AND (r.created_at, r.seq) > (coalesce($2::timestamptz, '-infinity'), coalesce($3::bigint, 0))
      ORDER BY r.created_at, r.seq LIMIT $1`,
    params: [limit, after?.created_at ?? null, after?.seq ?? null],
    as: (rows: (RunState & { created_at: string })[]) => rows,
  });
}

/** What these runs require, by run id; one that is not there is left out. */
export function readRequires(runIds: string[]): Read<Map<string, Requirement[]>> {
  return read({
    name: 'queue.read-requires',
    text: 'SELECT run_id, requires FROM runs WHERE run_id = ANY ($1::text[])',
    params: [runIds],
    as: (rows: { run_id: string; requires: Requirement[] }[]) =>
      new Map(rows.map(({ run_id, requires }) => [run_id, requires])),
  });
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
export function readQueuePage(runIds: string[]): Read<QueueRow[]> {
  return read({
    name: 'queue.read-page',
    text: `
     SELECT run_id, work_id, principal, requires::text AS requires, spread, queued_at, created_at,
            json_build_object('created_at', created_at::text, 'seq', seq::text) AS place
       FROM runs WHERE run_id = ANY ($1::text[]) ORDER BY created_at, seq`,
    params: [runIds],
    as: (rows: QueueRow[]) => rows,
  });
}

/** Forgets changes that everybody who keeps the queue in memory has read, or has given up to. False: there were none. */
export function forgetQueueChanges(): Write<boolean> {
  return write({
    name: 'queue.forget-changes',
    text: 'DELETE FROM queue_changes WHERE at < clock_timestamp() - make_interval(secs => $1)',
    params: [KEPT_SECONDS],
    rows: 'any',
    as: (_rows, touched) => touched > 0,
  });
}

import type { Requirement } from '../domain/contract/contract.js';
import type { Queryable } from '../platform/database/queryable.js';
import type { Keyset } from '../platform/http/cursor.js';

export interface QueueRow {
  run_id: string;
  work_id: string | null;
  principal: string;
  requires: Requirement[];
  spread: boolean;
  queued_at: Date;
  created_at: Date;
  place: Keyset;
}

/** A page of the queue in arrival order, after the given place. */
export async function readQueuePage(
  database: Queryable,
  limit: number,
  after: Keyset | undefined,
): Promise<QueueRow[]> {
  const { rows } = await database.query<QueueRow>(
    `/* queue.read-page */
     SELECT run_id, work_id, principal, requires, spread, queued_at, created_at,
            json_build_object('created_at', created_at::text, 'seq', seq::text) AS place
       FROM runs
      WHERE state = 'QUEUED' AND (created_at, seq) > (coalesce($2::timestamptz, '-infinity'), coalesce($3::bigint, 0))
      ORDER BY created_at, seq LIMIT $1`,
    [limit, after?.created_at ?? null, after?.seq ?? null],
  );
  return rows;
}

export async function readDepth(database: Queryable): Promise<{ depth: number; observed_at: Date }> {
  const { rows } = await database.query<{ depth: number; observed_at: Date }>(
    `/* queue.read-depth */
     SELECT count(*)::int AS depth, clock_timestamp() AS observed_at FROM runs WHERE state = 'QUEUED'`,
  );
  return rows[0]!;
}

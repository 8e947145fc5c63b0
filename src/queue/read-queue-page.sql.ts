import type { Queryable } from '../platform/database/queryable.js';
import type { Keyset } from '../platform/http/cursor.js';

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

import type { Queryable } from '../platform/database/queryable.js';

/** Uploads that were begun so many seconds ago and not published, the oldest first. */
export async function findLeftoverUploads(database: Queryable, seconds: number, limit: number): Promise<string[]> {
  const { rows } = await database.query<{ upload_id: string }>(
    `/* reaper.find-leftover-uploads */
     SELECT upload_id FROM blobs
      WHERE published_at IS NULL AND started_at < clock_timestamp() - make_interval(secs => $1)
      ORDER BY started_at LIMIT $2`,
    [seconds, limit],
  );
  return rows.map((row) => row.upload_id);
}

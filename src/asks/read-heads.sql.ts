import type { Queryable } from '../platform/database/queryable.js';

/** The first bytes of these uploads, by upload; an empty one has none. */
export async function readHeads(database: Queryable, uploadIds: string[], bytes: number): Promise<Map<string, Buffer>> {
  const { rows } = await database.query<{ upload_id: string; head: Buffer }>(
    `/* asks.read-heads */
     SELECT upload_id, string_agg(substring(bytes FROM 1 FOR ($2 - at)::int), ''::bytea ORDER BY at) AS head
       FROM blob_chunks WHERE upload_id = ANY ($1::bigint[]) AND at < $2::bigint GROUP BY upload_id`,
    [uploadIds, bytes],
  );
  return new Map(rows.map((row) => [row.upload_id, row.head]));
}

import type { Queryable } from '../platform/database/queryable.js';

/** Runs that are over and whose record lacks its digest, the longest closed first. */
export async function readUnsealed(database: Queryable, limit: number): Promise<string[]> {
  const { rows } = await database.query<{ run_id: string }>(
    `/* records.read-unsealed */
     SELECT run_id FROM records WHERE digest IS NULL AND closed_at IS NOT NULL ORDER BY closed_at LIMIT $1`,
    [limit],
  );
  return rows.map((row) => row.run_id);
}

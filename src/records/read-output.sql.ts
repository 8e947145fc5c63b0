import type { Queryable, Tx } from '../platform/database/queryable.js';
import { RIGHTFUL } from './promises.sql.js';

/** The text of a published output of this attempt; undefined where none was uploaded, null where it is larger than that. */
export async function readOutput(
  tx: Tx,
  runId: string,
  seq: number,
  attempt: number,
  name: string,
  mostBytes: number,
): Promise<string | null | undefined> {
  const { rows } = await tx.query<{ body: Buffer | null; large: boolean }>(
    `/* records.read-output */
     SELECT b.size > $5 AS large,
            CASE WHEN b.size <= $5 THEN
              (SELECT string_agg(bytes, ''::bytea ORDER BY at) FROM blob_chunks c WHERE c.upload_id = b.upload_id) END AS body
       FROM blobs b
      WHERE b.run_id = $1 AND b.seq = $2 AND b.attempt = $3 AND b.name = $4 AND b.published_at IS NOT NULL`,
    [runId, seq, attempt, name, mostBytes],
  );
  const [found] = rows;
  if (found === undefined) return undefined;
  return found.large ? null : (found.body?.toString('utf8') ?? '');
}

/** The names of what was uploaded in each step's current attempt, by step; or of one step. */
export async function readUploaded(
  database: Queryable,
  runId: string,
  seq: number | null = null,
): Promise<Map<number, Set<string>>> {
  const { rows } = await database.query<{ seq: number; names: string[] }>(
    `/* records.read-uploaded */
     SELECT b.seq, array_agg(b.name) AS names
       FROM blobs b JOIN steps s USING (run_id, seq, attempt)
      WHERE b.run_id = $1 AND ($2::int IS NULL OR b.seq = $2) AND b.published_at IS NOT NULL AND ${RIGHTFUL} GROUP BY b.seq`,
    [runId, seq],
  );
  return new Map(rows.map((row) => [row.seq, new Set(row.names)]));
}

import type { Queryable } from '../../platform/database/queryable.js';

/** The bytes of an upload from `from` to before `to`, as far as they are there. */
export async function readBlobBytes(
  database: Queryable,
  uploadId: string,
  from: number,
  to: number,
): Promise<Uint8Array> {
  const { rows } = await database.query<{ bytes: Buffer | null }>(
    `/* records.read-blob-bytes */
     SELECT string_agg(substring(c.bytes FROM greatest($2::bigint - c.at, 0)::int + 1
                         FOR greatest(least(c.at + length(c.bytes), $3::bigint) - greatest(c.at, $2), 0)::int),
                       ''::bytea ORDER BY c.at) AS bytes
       FROM blob_chunks c
      WHERE c.upload_id = $1 AND c.at < $3
        AND c.at >= (SELECT max(f.at) FROM blob_chunks f WHERE f.upload_id = $1 AND f.at <= $2)`,
    [uploadId, from, to],
  );
  return rows[0]?.bytes ?? new Uint8Array();
}

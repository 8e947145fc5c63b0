import type { Queryable } from '../platform/database/queryable.js';

/** Some bytes of an upload, published or not, from this offset on, where a chunk begins; undefined at its end. */
export async function readUploadPart(database: Queryable, uploadId: string, at: number): Promise<Buffer | undefined> {
  const { rows } = await database.query<{ bytes: Buffer }>(
    '/* records.read-upload-part */ SELECT bytes FROM blob_chunks WHERE upload_id = $1 AND at = $2',
    [uploadId, at],
  );
  return rows[0]?.bytes;
}

import type { Tx } from '../platform/database/queryable.js';

/**
 * Adds bytes to an upload that is not published; a foreign key violation says that it is not there any more.
 * Its commit does not wait for the disk: until the upload is published a crash may take all of it, and the commit that
 * publishes it does wait, for everything that was written before it too.
 */
export function insertBlobChunk(tx: Tx, uploadId: string, at: number, bytes: Buffer): void {
  tx.send(
    `/* records.insert-blob-chunk */
     INSERT INTO blob_chunks (upload_id, at, bytes)
     SELECT $1, $2, $3 FROM set_config('synchronous_commit', 'off', true)`,
    [uploadId, at, bytes],
  );
}

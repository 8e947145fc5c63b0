import type { Tx } from '../platform/database/queryable.js';

/**
 * Deletes an upload that was not published, with its chunks, whose bytes its run has back. False: it was published, or is
 * gone already. A chunk that is being stored comes before, so that it is counted.
 */
export async function deleteUpload(tx: Tx, uploadId: string): Promise<boolean> {
  tx.send('/* records.lock-upload */ SELECT FROM blobs WHERE upload_id = $1 AND published_at IS NULL FOR UPDATE', [
    uploadId,
  ]);
  const { affected } = await tx.query(
    `/* records.delete-upload */
     WITH gone AS (DELETE FROM blobs WHERE upload_id = $1 AND published_at IS NULL RETURNING run_id, promised),
     given_back AS (
       UPDATE run_bytes c SET bytes = greatest(0, c.bytes - (
                SELECT coalesce(sum(length(k.bytes)), 0) FROM blob_chunks k WHERE k.upload_id = $1))
         FROM gone WHERE c.run_id = gone.run_id AND gone.promised IS NOT NULL)
     SELECT FROM gone`,
    [uploadId],
  );
  return affected === 1;
}

import type { Tx } from '../platform/database/queryable.js';

/** Deletes an upload that was not published, with its chunks. False: it was published, or is gone already. */
export async function deleteUpload(tx: Tx, uploadId: string): Promise<boolean> {
  const { affected } = await tx.query(
    '/* records.delete-upload */ DELETE FROM blobs WHERE upload_id = $1 AND published_at IS NULL',
    [uploadId],
  );
  return affected === 1;
}

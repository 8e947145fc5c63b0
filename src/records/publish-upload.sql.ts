import type { Tx } from '../platform/database/queryable.js';
import type { NewUpload } from './insert-upload.sql.js';

export type UploadKey = Omit<NewUpload, 'media_type' | 'promised'>;

/** Whether the same attempt has published an upload of this name that was begun later. */
export async function isReplaced(
  tx: Tx,
  uploadId: string,
  { run_id, seq, attempt, name }: UploadKey,
): Promise<boolean> {
  const { rows } = await tx.query(
    `/* records.find-later-upload */
     SELECT FROM blobs
      WHERE run_id = $2 AND seq = $3 AND attempt = $4 AND name = $5 AND published_at IS NOT NULL AND upload_id > $1`,
    [uploadId, run_id, seq, attempt, name],
  );
  return rows.length > 0;
}

/** Takes away what the same attempt has published under this name; its run has the bytes back. */
export async function deleteReplaced(tx: Tx, { run_id, seq, attempt, name }: UploadKey): Promise<void> {
  await tx.query(
    `/* records.delete-replaced */
     WITH gone AS (
       DELETE FROM blobs
        WHERE run_id = $1 AND seq = $2 AND attempt = $3 AND name = $4 AND published_at IS NOT NULL RETURNING size)
     UPDATE run_bytes c SET bytes = greatest(0, c.bytes - gone.size) FROM gone WHERE c.run_id = $1`,
    [run_id, seq, attempt, name],
  );
}

/** Shows the upload to everybody. False: it is not there any more. */
export async function publishUpload(tx: Tx, uploadId: string, size: number, sha256: string): Promise<boolean> {
  const { affected } = await tx.query(
    `/* records.publish-upload */
     UPDATE blobs SET published_at = clock_timestamp(), size = $2, sha256 = $3
      WHERE upload_id = $1 AND published_at IS NULL`,
    [uploadId, size, sha256],
  );
  return affected === 1;
}

import type { Tx } from '../platform/database/queryable.js';

export interface NewUpload {
  run_id: string;
  seq: number;
  attempt: number;
  name: string;
  media_type: string;
}

/** Begins an upload that nobody sees yet; gives its number. */
export async function insertUpload(
  tx: Tx,
  { run_id, seq, attempt, name, media_type }: NewUpload,
): Promise<{ upload_id: string }> {
  const { rows } = await tx.query<{ upload_id: string }>(
    `/* records.insert-upload */
     INSERT INTO blobs (run_id, seq, attempt, name, media_type) VALUES ($1, $2, $3, $4, $5) RETURNING upload_id`,
    [run_id, seq, attempt, name, media_type],
  );
  return rows[0]!;
}

import { createHash } from 'node:crypto';
import type { Tx } from '../platform/database/queryable.js';

export interface SmallOutput {
  run_id: string;
  seq: number;
  attempt: number;
  name: string;
  media_type: string;
  body: Buffer;
}

/** Stores an output that is small and at hand, published, within the transaction that makes it true. */
export async function storeOutput(
  tx: Tx,
  { run_id, seq, attempt, name, media_type, body }: SmallOutput,
): Promise<void> {
  const sha256 = createHash('sha256').update(body).digest('hex');
  await tx.query(
    `/* records.store-output */
     WITH upload AS (
       INSERT INTO blobs (run_id, seq, attempt, name, media_type, published_at, size, sha256)
       VALUES ($1, $2, $3, $4, $5, clock_timestamp(), $6, $7) RETURNING upload_id)
     INSERT INTO blob_chunks (upload_id, at, bytes) SELECT upload_id, 0, $8 FROM upload`,
    [run_id, seq, attempt, name, media_type, body.length, sha256, body],
  );
}

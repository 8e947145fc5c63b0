import { createHash } from 'node:crypto';
import type { Tx } from '../platform/database/queryable.js';
import { openRunBytes } from './run-bytes.sql.js';

export interface SmallOutput {
  run_id: string;
  seq: number;
  attempt: number;
  name: string;
  media_type: string;
  body: Buffer;
}

/**
 * Stores an output that is small, at hand and promised by its step, published, within the transaction that makes it true
 * and has locked the run. It counts, and is not refused: what a person has said is not lost to what nodes have stored.
 */
export async function storeOutput(
  tx: Tx,
  { run_id, seq, attempt, name, media_type, body }: SmallOutput,
): Promise<void> {
  const sha256 = createHash('sha256').update(body).digest('hex');
  await openRunBytes(tx, run_id);
  await tx.query(
    `/* records.store-output */
     WITH counted AS (UPDATE run_bytes SET bytes = bytes + $6 WHERE run_id = $1),
     upload AS (
       INSERT INTO blobs (run_id, seq, attempt, name, media_type, promised, published_at, size, sha256)
       VALUES ($1, $2, $3, $4, $5, true, clock_timestamp(), $6, $7) RETURNING upload_id)
     INSERT INTO blob_chunks (upload_id, at, bytes) SELECT upload_id, 0, $8 FROM upload`,
    [run_id, seq, attempt, name, media_type, body.length, sha256, body],
  );
}

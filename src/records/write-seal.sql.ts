import type { Tx } from '../platform/database/queryable.js';
import type { RenderedRecord } from './render-record.js';

/** Stores the rendered files, their sums and the digest. False: it was sealed meanwhile. */
export async function writeSeal(tx: Tx, runId: string, { files, sums, digest }: RenderedRecord): Promise<boolean> {
  const { affected } = await tx.query(
    `/* records.write-seal */
     UPDATE records SET files = $2, sums = $3, digest = $4, sealed_at = clock_timestamp()
      WHERE run_id = $1 AND digest IS NULL AND closed_at IS NOT NULL`,
    [runId, JSON.stringify(files), sums, digest],
  );
  return affected === 1;
}

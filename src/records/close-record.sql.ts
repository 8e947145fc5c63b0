import type { Tx } from '../platform/database/queryable.js';

/** Closes the record of a run: the last statement of the transaction that ends it. Afterwards the database refuses changes. */
export async function closeRecord(tx: Tx, runId: string): Promise<void> {
  const { affected } = await tx.query(
    '/* records.close */ UPDATE records SET closed_at = clock_timestamp() WHERE run_id = $1 AND closed_at IS NULL',
    [runId],
  );
  if (affected !== 1) throw new Error(`the record of run ${runId} is not open`);
}

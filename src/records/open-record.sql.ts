import type { Tx } from '../platform/database/queryable.js';

/** Opens the record of a run, in the transaction that creates it, whatever the outcome. */
export async function openRecord(tx: Tx, runId: string): Promise<void> {
  await tx.query('/* records.open */ INSERT INTO records (run_id) VALUES ($1)', [runId]);
}

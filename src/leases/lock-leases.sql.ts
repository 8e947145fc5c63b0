import type { Tx } from '../platform/database/queryable.js';

/** Waits for renewals of this (locked) run's leases that are under way, and holds off further ones. */
export async function lockLeases(tx: Tx, runId: string): Promise<void> {
  await tx.query('/* leases.lock */ SELECT node_id FROM leases WHERE run_id = $1 ORDER BY node_id FOR NO KEY UPDATE', [
    runId,
  ]);
}

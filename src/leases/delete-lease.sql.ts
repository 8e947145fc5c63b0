import type { Tx } from '../platform/database/queryable.js';

/** Deletes this lease of a run that is over, and touches no grant; false: it is gone already. */
export async function deleteLease(tx: Tx, nodeId: string, runId: string): Promise<boolean> {
  const { affected } = await tx.query('/* leases.delete */ DELETE FROM leases WHERE node_id = $1 AND run_id = $2', [
    nodeId,
    runId,
  ]);
  return affected === 1;
}

import type { AssignedRole } from '../domain/matching/fleet.js';
import type { Tx } from '../platform/database/queryable.js';

/** Shows the roles that the (locked) run has by now. */
export function writeAssigned(tx: Tx, runId: string, assigned: AssignedRole[]): void {
  tx.send('/* steps.write-assigned */ UPDATE runs SET assigned = $2, version = version + 1 WHERE run_id = $1', [
    runId,
    JSON.stringify(assigned),
  ]);
}

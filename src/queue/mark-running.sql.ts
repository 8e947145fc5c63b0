import type { AssignedRole } from '../domain/matching/fleet.js';
import type { Tx } from '../platform/database/queryable.js';
import type { Why } from './why.js';

/** Moves a queued run to RUNNING. False: somebody else moved or cancelled it. */
export async function markRunning(tx: Tx, runId: string, assigned: AssignedRole[], whys: Why[]): Promise<boolean> {
  const { affected } = await tx.query(
    `/* queue.mark-running */
     UPDATE runs
        SET state = 'RUNNING', assigned = $2, started_at = clock_timestamp(), promoted_at = clock_timestamp(),
            promoted_whys = $3, version = version + 1
      WHERE run_id = $1 AND state = 'QUEUED'`,
    [runId, JSON.stringify(assigned), whys],
  );
  return affected === 1;
}

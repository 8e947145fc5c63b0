import type { Tx } from '../platform/database/queryable.js';

/** Cancels every step of the run that has not ended, the attempts under way and the questions that are open. */
export async function cancelSteps(tx: Tx, runId: string): Promise<void> {
  await tx.query(
    `/* steps.cancel */
     WITH cancelled AS (
       UPDATE steps SET state = 'CANCELLED', ended_at = clock_timestamp()
        WHERE run_id = $1 AND state IN ('PENDING', 'CLAIMED', 'ASKED')
       RETURNING run_id, seq, attempt, ended_at),
     withdrawn AS (UPDATE asks SET state = 'CANCELLED', ended_at = clock_timestamp() WHERE run_id = $1 AND state = 'OPEN'),
     unnoticed AS (DELETE FROM ask_notices WHERE run_id = $1)
     UPDATE attempts a SET state = 'CANCELLED', ended_at = cancelled.ended_at
       FROM cancelled
      WHERE a.run_id = cancelled.run_id AND a.seq = cancelled.seq AND a.attempt = cancelled.attempt AND a.ended_at IS NULL`,
    [runId],
  );
}

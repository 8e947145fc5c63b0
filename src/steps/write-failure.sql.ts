import type { Tx } from '../platform/database/queryable.js';

/** Ends a step that is under way, and its attempt, as FAILED. */
export function writeFailure(tx: Tx, runId: string, seq: number, error: string): void {
  tx.send(
    `/* steps.write-failure */
     WITH ended AS (
       UPDATE steps SET state = 'FAILED', ended_at = clock_timestamp(), result = $3
        WHERE run_id = $1 AND seq = $2 AND state IN ('CLAIMED', 'ASKED')
       RETURNING run_id, seq, attempt, state, ended_at, result),
     counted AS (UPDATE runs r SET version = version + 1 FROM ended WHERE r.run_id = ended.run_id),
     written AS (
       UPDATE attempts a SET state = ended.state, ended_at = ended.ended_at, result = ended.result
         FROM ended WHERE a.run_id = ended.run_id AND a.seq = ended.seq AND a.attempt = ended.attempt
       RETURNING a.run_id)
     SELECT refuse('the step is not under way') WHERE NOT EXISTS (SELECT FROM written)`,
    [runId, seq, JSON.stringify({ error })],
  );
}

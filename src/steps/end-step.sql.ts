import type { Tx } from '../platform/database/queryable.js';

export interface StepResult {
  exit_code?: number;
  produced?: string[];
  error?: string;
}

/** Ends a step that is under way, and its attempt. False: it was not under way. */
export async function endStep(
  tx: Tx,
  runId: string,
  seq: number,
  state: 'DONE' | 'FAILED',
  result: StepResult,
): Promise<boolean> {
  const { affected } = await tx.query(
    `/* steps.end */
     WITH ended AS (
       UPDATE steps SET state = $3, ended_at = clock_timestamp(), result = $4
        WHERE run_id = $1 AND seq = $2 AND state = 'CLAIMED'
       RETURNING run_id, seq, attempt, state, ended_at, result),
     counted AS (UPDATE runs r SET version = version + 1 FROM ended WHERE r.run_id = ended.run_id)
     UPDATE attempts a SET state = ended.state, ended_at = ended.ended_at, result = ended.result
       FROM ended WHERE a.run_id = ended.run_id AND a.seq = ended.seq AND a.attempt = ended.attempt`,
    [runId, seq, state, JSON.stringify(result)],
  );
  return affected === 1;
}

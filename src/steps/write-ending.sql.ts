import type { FinalState } from '../domain/states.js';
import type { Verdict } from '../domain/verdict.js';
import type { Tx } from '../platform/database/queryable.js';

/** The run's final state and verdict, guarded by its not being over yet. */
export async function writeEnding(tx: Tx, runId: string, state: FinalState, verdict: Verdict): Promise<void> {
  const { affected } = await tx.query(
    `/* steps.write-ending */
     UPDATE runs SET state = $2, verdict = $3, ended_at = clock_timestamp(), version = version + 1
      WHERE run_id = $1 AND state IN ('QUEUED', 'RUNNING')`,
    [runId, state, JSON.stringify(verdict)],
  );
  if (affected !== 1) throw new Error(`run ${runId} is over already`);
}

import type { Tx } from '../platform/database/queryable.js';

/** Closes the open questions of the (locked) run, of these steps or all of them, unanswered; and the notices of them. */
export function closeAsks(tx: Tx, runId: string, state: 'EXPIRED' | 'CANCELLED', seqs: number[] | null = null): void {
  tx.send(
    `/* steps.close-asks */
     WITH unnoticed AS (DELETE FROM ask_notices WHERE run_id = $1 AND ($3::int[] IS NULL OR seq = ANY ($3)))
     UPDATE asks SET state = $2, ended_at = clock_timestamp()
      WHERE run_id = $1 AND state = 'OPEN' AND ($3::int[] IS NULL OR seq = ANY ($3))`,
    [runId, state, seqs],
  );
}

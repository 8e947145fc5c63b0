import type { Tx } from '../platform/database/queryable.js';

/**
 * Adds the runs that have ended since the last time to how many had before. In one snapshot the two together are the same
 * before and after; what another server is adding up is left to it.
 */
export async function addUpEnded(tx: Tx): Promise<void> {
  await tx.query(
    `/* steps.add-up-ended */
     WITH news AS MATERIALIZED (SELECT ctid FROM ended_runs_news FOR UPDATE SKIP LOCKED),
     taken AS (DELETE FROM ended_runs_news e USING news WHERE e.ctid = news.ctid RETURNING e.state, e.runs)
     INSERT INTO ended_runs AS ended (state, runs) SELECT state, sum(runs) FROM taken GROUP BY state ORDER BY state
         ON CONFLICT (state) DO UPDATE SET runs = ended.runs + excluded.runs`,
  );
}

import type { Tx } from '../platform/database/queryable.js';

/** Gives back every lease of a (locked) run and closes its grants with the reason. Gives the nodes that are free now. */
export async function releaseLeases(tx: Tx, runId: string, why: string): Promise<string[]> {
  const { rows } = await tx.query<{ node_id: string }>(
    `/* leases.release */
     WITH released AS (DELETE FROM leases WHERE run_id = $1 RETURNING node_id),
          closed AS (UPDATE grants SET released_at = clock_timestamp(), why = $2 WHERE run_id = $1 AND released_at IS NULL)
     SELECT node_id FROM released ORDER BY node_id`,
    [runId, why],
  );
  return rows.map((row) => row.node_id);
}

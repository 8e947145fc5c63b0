import type { Tx } from '../platform/database/queryable.js';

/** The steps of the (locked) run that another, named instance of this node has claimed. */
export async function readRestarted(tx: Tx, runId: string, nodeId: string, instance: string): Promise<number[]> {
  const { rows } = await tx.query<{ seq: number }>(
    `/* nodes.read-restarted */
     SELECT seq FROM steps
      WHERE run_id = $1 AND node_id = $2 AND state = 'CLAIMED' AND instance <> '' AND instance <> $3 ORDER BY seq`,
    [runId, nodeId, instance],
  );
  return rows.map((row) => row.seq);
}

/** Whether a step is under way on this node. */
export async function hasClaimed(tx: Tx, runId: string, nodeId: string): Promise<boolean> {
  const { rows } = await tx.query(
    "/* nodes.has-claimed */ SELECT 1 FROM steps WHERE run_id = $1 AND node_id = $2 AND state = 'CLAIMED' LIMIT 1",
    [runId, nodeId],
  );
  return rows.length > 0;
}

import type { Queryable } from '../../platform/database/queryable.js';

/** Whether the run holds this node now. Undefined: there is no such run. */
export async function isHeldBy(database: Queryable, runId: string, nodeId: string): Promise<boolean | undefined> {
  const { rows } = await database.query<{ held: boolean }>(
    `/* records.is-held-by */
     SELECT EXISTS (SELECT FROM leases l WHERE l.run_id = r.run_id AND l.node_id = $2) AS held
       FROM runs r WHERE r.run_id = $1`,
    [runId, nodeId],
  );
  return rows[0]?.held;
}

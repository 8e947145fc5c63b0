import type { Tx } from '../platform/database/queryable.js';

/**
 * Gives these roles of a (locked) run back: a node that serves none but these is free again, one that serves others too
 * stays. Gives the nodes that are free now.
 */
export async function releaseRoles(tx: Tx, runId: string, roles: string[], why: string): Promise<string[]> {
  const { rows } = await tx.query<{ node_id: string }>(
    `/* leases.release-roles */
     WITH released AS (
       DELETE FROM leases WHERE run_id = $1 AND roles && $2::text[] AND roles <@ $2::text[] RETURNING node_id),
     closed AS (
       UPDATE grants g SET released_at = clock_timestamp(), why = $3 FROM released
        WHERE g.run_id = $1 AND g.node_id = released.node_id AND g.released_at IS NULL),
     narrowed AS (
       UPDATE leases SET roles = ARRAY(SELECT unnest(roles) EXCEPT SELECT unnest($2::text[]))
        WHERE run_id = $1 AND roles && $2::text[] AND NOT roles <@ $2::text[])
     SELECT node_id FROM released ORDER BY node_id`,
    [runId, roles, why],
  );
  return rows.map((row) => row.node_id);
}

import type { Tx } from '../platform/database/queryable.js';

/**
 * Inserts a lease for each node that has none, in order of node_id, and a grant for each lease. Waits for another
 * transaction that is taking or giving back one of them. Gives how many leases it inserted.
 */
export async function insertLeases(
  tx: Tx,
  runId: string,
  nodes: { node_id: string; roles: string[] }[],
  ttlSeconds: number,
): Promise<number> {
  const { affected } = await tx.query(
    `/* leases.insert */
     WITH leased AS (
       INSERT INTO leases (node_id, run_id, not_after, nonce, roles)
       SELECT node_id, $1, clock_timestamp() + make_interval(secs => $3), gen_random_uuid()::text,
              ARRAY(SELECT jsonb_array_elements_text(roles))
         FROM jsonb_to_recordset($2::jsonb) AS wanted (node_id text, roles jsonb)
        ORDER BY node_id COLLATE "C"
           ON CONFLICT (node_id) DO NOTHING
       RETURNING node_id, run_id, roles, granted_at)
     INSERT INTO grants (node_id, run_id, roles, granted_at)
     SELECT node_id, run_id, roles, granted_at FROM leased`,
    [runId, JSON.stringify(nodes.map(({ node_id, roles }) => ({ node_id, roles }))), ttlSeconds],
  );
  return affected;
}

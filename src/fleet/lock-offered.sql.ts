import type { Tx } from '../platform/database/queryable.js';

/**
 * Share-locks, in order of node_id, those of the nodes that can still be granted: live, not draining, heard of since an
 * outage, and offering what they were matched by. Gives how many there are.
 */
export async function lockOffered(tx: Tx, nodes: { node_id: string; offer_rev: number }[]): Promise<number> {
  const { rows } = await tx.query(
    `/* fleet.lock-offered */
     SELECT n.node_id
       FROM nodes n JOIN unnest($1::text[], $2::float8[]) AS wanted (node_id, offer_rev)
         ON n.node_id = wanted.node_id COLLATE "C" AND n.offer_rev = wanted.offer_rev
      WHERE n.expires_at > clock_timestamp() AND n.drain = '' AND NOT n.revived
      ORDER BY n.node_id
        FOR SHARE OF n`,
    [nodes.map((node) => node.node_id), nodes.map((node) => node.offer_rev)],
  );
  return rows.length;
}

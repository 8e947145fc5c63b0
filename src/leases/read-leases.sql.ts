import type { Queryable } from '../platform/database/queryable.js';

export interface Lease {
  run_id: string;
  node_id: string;
  nonce: string;
  not_after: string;
}

/** Every lease of this node; the whole list is what an advert is answered with. */
export async function readLeases(database: Queryable, nodeId: string): Promise<Lease[]> {
  const { rows } = await database.query<Omit<Lease, 'not_after'> & { not_after: Date }>(
    '/* leases.read */ SELECT run_id, node_id, nonce, not_after FROM leases WHERE node_id = $1',
    [nodeId],
  );
  return rows.map((row) => ({ ...row, not_after: row.not_after.toISOString() }));
}

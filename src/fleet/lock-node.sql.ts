import type { Drain } from '../domain/drain.js';
import type { Tx } from '../platform/database/queryable.js';

export interface LockedNode {
  instance: string;
  drain: Drain;
}

/** Share-locks the node's row, so that no advert changes it meanwhile. Undefined: it never advertised. */
export async function lockNode(tx: Tx, nodeId: string): Promise<LockedNode | undefined> {
  const { rows } = await tx.query<LockedNode>(
    '/* fleet.lock-node */ SELECT instance, drain FROM nodes WHERE node_id = $1 FOR SHARE',
    [nodeId],
  );
  return rows[0];
}

import type { Tx } from '../platform/database/queryable.js';

/** Locks, in order of node_id, the nodes whose advert was alive at that time. */
export async function lockLive(tx: Tx, at: string): Promise<void> {
  await tx.query(
    `/* fleet.lock-live */
     SELECT count(*) FROM (
       SELECT FROM nodes WHERE expires_at > $1::timestamptz ORDER BY node_id FOR NO KEY UPDATE) live`,
    [at],
  );
}

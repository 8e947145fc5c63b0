import type { Tx } from '../platform/database/queryable.js';

/** Locks, in order of node_id, the leases that were alive at that time: a renewal or a release that is under way comes first. */
export async function lockAlive(tx: Tx, aliveAt: string): Promise<void> {
  await tx.query(
    `/* leases.lock-alive */
     SELECT count(*) FROM (
       SELECT FROM leases WHERE not_after > $1::timestamptz ORDER BY node_id FOR NO KEY UPDATE) alive`,
    [aliveAt],
  );
}

/** Gives the (locked) leases that were alive at that time at least so long from now. Gives how many there are. */
export async function extendLeases(tx: Tx, aliveAt: string, lifeSeconds: number): Promise<number> {
  const { affected } = await tx.query(
    `/* leases.extend */
     UPDATE leases SET not_after = greatest(not_after, clock_timestamp() + make_interval(secs => $2))
      WHERE not_after > $1::timestamptz`,
    [aliveAt, lifeSeconds],
  );
  return affected;
}

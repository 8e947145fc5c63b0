import type { Tx } from '../platform/database/queryable.js';

/** Gives the leases that were alive at that time at least so long from now. Gives how many there are. */
export async function extendLeases(tx: Tx, aliveAt: string, lifeSeconds: number): Promise<number> {
  const { affected } = await tx.query(
    `/* leases.extend */
     UPDATE leases SET not_after = greatest(not_after, clock_timestamp() + make_interval(secs => $2))
      WHERE not_after > $1::timestamptz`,
    [aliveAt, lifeSeconds],
  );
  return affected;
}

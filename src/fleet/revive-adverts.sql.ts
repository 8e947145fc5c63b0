import type { Tx } from '../platform/database/queryable.js';

/**
 * Gives the (locked) adverts that were alive at that time at least so long from now; until its node speaks such an advert
 * is live and its node unavailable. Gives how many there are.
 */
export async function reviveAdverts(tx: Tx, aliveAt: string, lifeSeconds: number): Promise<number> {
  const { affected } = await tx.query(
    `/* fleet.revive-adverts */
     UPDATE nodes
        SET revived = true, expires_at = greatest(expires_at, clock_timestamp() + make_interval(secs => $2))
      WHERE expires_at > $1::timestamptz`,
    [aliveAt, lifeSeconds],
  );
  return affected;
}

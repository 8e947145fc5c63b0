import type { Tx } from '../platform/database/queryable.js';

/**
 * Gives the (locked) adverts that were alive at that time at least so long from now; until its node speaks such an advert
 * is live and its node unavailable. Not those of nodes that have spoken since nobody was counted on any more: a heartbeat can
 * be faster than the look for an outage. Gives how many there are.
 */
export async function reviveAdverts(
  tx: Tx,
  aliveAt: string,
  silentSince: string,
  lifeSeconds: number,
): Promise<number> {
  const { affected } = await tx.query(
    `/* fleet.revive-adverts */
     UPDATE nodes
        SET revived = true, expires_at = greatest(expires_at, clock_timestamp() + make_interval(secs => $3))
      WHERE expires_at > $1::timestamptz AND seen_at < $2::timestamptz`,
    [aliveAt, silentSince, lifeSeconds],
  );
  return affected;
}

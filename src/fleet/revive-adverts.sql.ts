import type { Tx } from '../platform/database/queryable.js';

/**
 * Gives the (locked) adverts that were alive at that time at least so long from now; until its node speaks such an advert
 * is live and its node unavailable. Not those of nodes that have spoken since the silence of so many seconds: a heartbeat
 * can be faster than the look for an outage. Gives how many there are.
 */
export async function reviveAdverts(
  tx: Tx,
  aliveAt: string,
  silenceSeconds: number,
  lifeSeconds: number,
): Promise<number> {
  const { affected } = await tx.query(
    `/* fleet.revive-adverts */
     UPDATE nodes
        SET revived = true, expires_at = greatest(expires_at, clock_timestamp() + make_interval(secs => $3))
      WHERE expires_at > $1::timestamptz AND seen_at < $1::timestamptz + make_interval(secs => $2)`,
    [aliveAt, silenceSeconds, lifeSeconds],
  );
  return affected;
}

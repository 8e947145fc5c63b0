import type { Requirement } from '../domain/contract/contract.js';
import { match } from '../domain/matching/match.js';
import { RankedFleet } from '../domain/matching/ranked-fleet.js';
import { readAdverts } from '../fleet/read-adverts.sql.js';
import { readUnavailable } from '../fleet/read-unavailable.sql.js';
import { countLeases } from '../leases/count-leases.sql.js';
import { grantLeases } from '../leases/grant-leases.sql.js';
import type { Tx } from '../platform/database/queryable.js';
import { point } from '../platform/points.js';
import type { Terms } from './terms.js';

/**
 * Takes one more node for a run that is under way, for the first life of a lease, or finds that there is none now:
 * undefined. A draining node counts as taken, and so does one that the run holds already. A collision tries the next
 * candidate. The node is locked after the run, against the order of locks: a deadlock runs the transaction again.
 */
export async function acquireNode(
  tx: Tx,
  runId: string,
  want: Requirement,
  { ttlSeconds, maxLeases }: Terms,
): Promise<{ node_id: string; label: string } | undefined> {
  if (maxLeases > 0 && (await countLeases(tx, runId)) >= maxLeases) return undefined;
  const fleet = RankedFleet.of(await readAdverts(tx));
  const unavailable = (await readUnavailable(tx)).all;
  for (;;) {
    const found = match([want], false, fleet, unavailable);
    if (found.kind !== 'matched') return undefined;
    await point(`${tx.name}.before-acquire`);
    if ((await grantLeases(tx, runId, found.nodes, ttlSeconds)) === 'granted') return found.assigned[0]!.nodes[0]!;
    unavailable.add(found.nodes[0]!.node_id);
  }
}

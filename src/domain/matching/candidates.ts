import type { Requirement } from '../contract/contract.js';
import type { NodeSet } from './fleet.js';
import { offers } from './offers.js';
import type { RankedFleet } from './ranked-fleet.js';
import { TakenNodes } from './taken-nodes.js';

/**
 * The ranks of the nodes that satisfy the requirement, most preferred first, without the unavailable ones. It stops at
 * `limit`, so on a fleet with room a match looks at as many nodes as it takes, not at all of them.
 */
export function candidates(
  requirement: Requirement,
  fleet: RankedFleet,
  limit = Infinity,
  unavailable?: NodeSet,
): number[] {
  const found: number[] = [];
  let last = -1;
  const taken = takenRanks(fleet, unavailable);
  for (const { rank, entry } of fleet.offersFor(requirement)) {
    if (rank === last || taken(rank) || !offers(entry, requirement)) continue;
    last = rank;
    if (found.push(rank) >= limit) break;
  }
  return found;
}

/** One bit per node, where the set is one for this very fleet: a fleet that is all taken is passed over in microseconds. */
function takenRanks(fleet: RankedFleet, unavailable: NodeSet | undefined): (rank: number) => boolean {
  if (unavailable === undefined) return () => false;
  if (unavailable instanceof TakenNodes && unavailable.fleet === fleet) return (rank) => unavailable.hasRank(rank);
  return (rank) => unavailable.has(fleet.at(rank).node_id);
}

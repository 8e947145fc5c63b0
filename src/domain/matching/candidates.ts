import type { Requirement } from '../contract/contract.js';
import type { NodeSet } from './fleet.js';
import { offers } from './offers.js';
import type { RankedFleet } from './ranked-fleet.js';

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
  for (const { rank, entry } of fleet.offersFor(requirement)) {
    if (rank === last || !offers(entry, requirement)) continue;
    last = rank;
    if (unavailable?.has(fleet.at(rank).node_id)) continue;
    if (found.push(rank) >= limit) break;
  }
  return found;
}

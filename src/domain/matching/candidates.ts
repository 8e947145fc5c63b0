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
  // One bit per node, where the set is one for this very fleet: one that is all taken is passed over in microseconds.
  const bits = unavailable instanceof TakenNodes && unavailable.fleet === fleet ? unavailable.bits : undefined;
  const found: number[] = [];
  let last = -1;
  for (const { rank, entry } of fleet.offersFor(requirement)) {
    if (bits !== undefined && (bits[rank >>> 5]! & (1 << (rank & 31))) !== 0) continue;
    if (bits === undefined && unavailable?.has(fleet.at(rank).node_id)) continue;
    if (rank === last || !offers(entry, requirement)) continue;
    last = rank;
    if (found.push(rank) >= limit) break;
  }
  return found;
}

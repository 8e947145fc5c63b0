import type { Requirement } from '../contract/contract.js';
import type { NodeSet } from './fleet.js';
import { UnavailableNodes } from './fleet-use.js';
import type { Offer, RankedFleet } from './ranked-fleet.js';
import { namedNode, offers } from './satisfies.js';

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
  // One bit per node, where the set is one for this very fleet: a fleet without a free node is passed over in microseconds.
  const bits = unavailable instanceof UnavailableNodes && unavailable.fleet === fleet ? unavailable.bits : undefined;
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

/** Per list of offers of a capability that share an attribute, one bit for each offer of the capability. */
export type OfferBits = Map<readonly Offer[], Uint32Array>;

/** A list that holds a smaller part of the offers is gone through. So an attribute has bits for at most so many values. */
const SMALLEST_PART = 1 / 32;

/**
 * The ranks of all nodes that satisfy the requirement, the same as `candidates` finds. Where each of its attributes is one
 * that many nodes have, it is found by bits, 32 nodes at a time: 10,000 nodes and 14 attributes in 0.1 ms, not in 4.
 */
export function allCandidates(requirement: Requirement, fleet: RankedFleet, known: OfferBits): number[] {
  const { capability, attrs = {} } = requirement;
  const offers = fleet.offersOfCapability(capability);
  if (offers === undefined) return [];
  const lists = Object.entries(attrs).map(([attribute, value]) => offers.having(attribute, value) ?? []);
  const shortest = lists.reduce((least, { length }) => Math.min(least, length), offers.all.length);
  if (namedNode(requirement) !== undefined || shortest < offers.all.length * SMALLEST_PART) {
    return candidates(requirement, fleet);
  }
  const all = lists.map((list) => bitsOf(list, offers.all, known));
  const ranks: number[] = [];
  for (let word = 0; word < (offers.all.length + 31) >>> 5; word++) {
    let inAll = all.reduce((both, bits) => both & bits[word]!, -1);
    for (; inAll !== 0; inAll &= inAll - 1) {
      const rank = offers.all[32 * word + 31 - Math.clz32(inAll & -inAll)]?.rank;
      if (rank !== undefined && rank !== ranks.at(-1)) ranks.push(rank);
    }
  }
  return ranks;
}

/** `list` is a part of `all`, in its order. */
function bitsOf(list: readonly Offer[], all: readonly Offer[], known: OfferBits): Uint32Array {
  let bits = known.get(list);
  if (bits === undefined) {
    bits = new Uint32Array((all.length + 31) >>> 5);
    let next = 0;
    for (const [index, offer] of all.entries()) {
      if (offer !== list[next]) continue;
      bits[index >>> 5]! |= 1 << (index & 31);
      next += 1;
    }
    known.set(list, bits);
  }
  return bits;
}

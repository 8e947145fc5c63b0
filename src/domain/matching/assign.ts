import type { Requirement } from '../contract/contract.js';
import { candidates } from './candidates.js';
import type { NodeSet } from './fleet.js';
import type { RankedFleet } from './ranked-fleet.js';
import type { Shortage } from './shortage.js';
import { SpreadMatching } from './spread-matching.js';

/** Per requirement the ranks of its nodes, or why there is no assignment. */
export type Assignment = { nodes: number[][] } | { shortage: Shortage };

/** Without `unavailable`: as if every live node were free. */
export function assign(
  requires: readonly Requirement[],
  spread: boolean,
  fleet: RankedFleet,
  unavailable?: NodeSet,
): Assignment {
  return spread ? assignSpread(requires, fleet, unavailable) : assignEach(requires, fleet, unavailable);
}

/** Every requirement for itself: one node may serve several roles, so none takes anything from another. */
function assignEach(requires: readonly Requirement[], fleet: RankedFleet, unavailable?: NodeSet): Assignment {
  const nodes: number[][] = [];
  for (const [at, requirement] of requires.entries()) {
    const count = requirement.count ?? 1;
    const found = candidates(requirement, fleet, count, unavailable);
    if (found.length < count) return { shortage: { at, together: [at], nodes: found.length } };
    nodes.push(found);
  }
  return { nodes };
}

/**
 * No role needs a candidate beyond the first S, the number of nodes that all roles take together: of those at least one
 * is left over by the others, and it is preferred. So the matching works on S candidates per role, not on the fleet. It
 * also means that a role which is short shows all the candidates it has, and they can be counted.
 */
function assignSpread(requires: readonly Requirement[], fleet: RankedFleet, unavailable?: NodeSet): Assignment {
  const counts = requires.map((requirement) => requirement.count ?? 1);
  const all = counts.reduce((sum, count) => sum + count, 0);
  const lists = requires.map((requirement) => candidates(requirement, fleet, all, unavailable));
  const matching = new SpreadMatching(lists, counts);
  const shortage = matching.complete();
  return shortage === undefined ? { nodes: matching.inOrder() } : { shortage };
}

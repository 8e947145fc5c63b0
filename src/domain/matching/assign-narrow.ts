import type { Requirement } from '../contract/contract.js';
import { candidates } from './candidates.js';
import type { NodeSet } from './fleet.js';
import type { RankedFleet } from './ranked-fleet.js';

/** How many distinct nodes an assignment takes. */
export function widthOf(assigned: readonly (readonly unknown[])[]): number {
  return new Set(assigned.flat()).size;
}

/** How many distinct nodes a run takes at least, however it is assigned. */
export function leastWidth(requires: readonly Requirement[], spread: boolean): number {
  const counts = requires.map(({ count = 1 }) => count);
  return spread ? counts.reduce((sum, count) => sum + count, 0) : Math.max(...counts);
}

/**
 * The second look at a run that would take more nodes than it may: each role takes the nodes that serve most roles of this
 * run, and of those the ones that it prefers. It finds narrow assignments, not always the narrowest: that would be to cover
 * sets. There is room for the run, and it is not spread.
 *
 * Cost: that of all candidates of all roles.
 */
export function assignNarrow(requires: readonly Requirement[], fleet: RankedFleet, unavailable?: NodeSet): number[][] {
  const able = requires.map((requirement) => candidates(requirement, fleet, Infinity, unavailable));
  const serves = new Map<number, number>();
  for (const rank of able.flat()) serves.set(rank, (serves.get(rank) ?? 0) + 1);
  return able.map((ranks, role) => mostServing(ranks, serves, requires[role]!.count ?? 1));
}

/** Without sorting: a fleet may have 10,000 candidates for each of 64 roles. */
function mostServing(ranks: readonly number[], serves: ReadonlyMap<number, number>, count: number): number[] {
  const byRoles: number[][] = [];
  for (const rank of ranks) {
    const alike = (byRoles[serves.get(rank)!] ??= []);
    if (alike.length < count) alike.push(rank);
  }
  return byRoles.reverse().flat().slice(0, count);
}

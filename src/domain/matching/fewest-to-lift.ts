import type { Requirement } from '../contract/contract.js';
import type { CandidateSet } from './candidate-set.js';
import { CandidateSets } from './candidate-sets.js';
import { candidates } from './candidates.js';
import type { FleetUse } from './fleet-use.js';
import { SpreadMatching } from './spread-matching.js';

/**
 * Nodes that drain or are held, with which the run would fit if that were lifted, by rank: each of them matters, so that without it
 * the others would not do. With `spread` there is no smaller set of them; otherwise nodes that serve more of the roles
 * that are short come first, which mostly gives the smallest. Undefined: not all of them would do.
 *
 * Cost: that of a match, and where several roles are short the number of such nodes times theirs.
 */
export function fewestToLift(requires: readonly Requirement[], spread: boolean, use: FleetUse): number[] | undefined {
  const found = spread ? liftSpread(requires, use) : liftEach(requires, use);
  return found?.sort((a, b) => a - b);
}

function liftSpread(requires: readonly Requirement[], use: FleetUse): number[] | undefined {
  const sets = CandidateSets.in(use.fleet);
  const counts = requires.map(({ count = 1 }) => count);
  // No role needs more of a kind than all roles take together: see `assign`.
  const all = counts.reduce((sum, count) => sum + count, 0);
  const lists = requires.map((requirement) => [
    ...candidates(requirement, use.fleet, all, use.unavailable),
    ...sets.of(requirement).firstIn(use.withdrawn, all),
  ]);
  return new SpreadMatching(lists, counts).completeWithFewest((rank) => use.withdrawn.hasRank(rank));
}

/** A role that the free nodes are too few for, and by how many. */
interface Short {
  missing: number;
  set: CandidateSet;
}

/** Withdrawn nodes that serve the same of the roles that are short. */
interface Alike {
  serves: Short[];
  ranks: number[];
}

function liftEach(requires: readonly Requirement[], use: FleetUse): number[] | undefined {
  const sets = CandidateSets.in(use.fleet);
  const short = requires.flatMap((requirement): Short[] => {
    const { count = 1 } = requirement;
    const missing = count - candidates(requirement, use.fleet, count, use.unavailable).length;
    return missing > 0 ? [{ missing, set: sets.of(requirement) }] : [];
  });
  const picked = pick(short, alikeAmong(short, use));
  return picked && withoutNeedless(short, picked);
}

function alikeAmong(short: readonly Short[], use: FleetUse): Alike[] {
  const most = short.reduce((sum, { missing }) => sum + missing, 0);
  const alike = new Map<string, Alike>();
  const ranks = new Set(short.flatMap(({ set }) => set.firstIn(use.withdrawn, short.length > 1 ? Infinity : most)));
  for (const rank of ranks) {
    const which = short.flatMap(({ set }, index) => (set.hasRank(rank) ? [index] : []));
    const key = which.join();
    const known = alike.get(key);
    if (known === undefined) alike.set(key, { serves: which.map((index) => short[index]!), ranks: [rank] });
    else if (known.ranks.length < most) known.ranks.push(rank);
  }
  return [...alike.values()];
}

/** Takes those first that serve most of what is still missing, as many at once as change nothing about that. */
function pick(short: readonly Short[], alike: readonly Alike[]): number[] | undefined {
  const missing = new Map(short.map((role) => [role, role.missing]));
  const unmet = ({ serves }: Alike): Short[] => serves.filter((role) => missing.get(role)! > 0);
  const picked: number[] = [];
  while ([...missing.values()].some((count) => count > 0)) {
    const best = alike
      .filter(({ ranks }) => ranks.length > 0)
      .map((group) => ({ group, roles: unmet(group) }))
      .reduce((a, b) => (b.roles.length > a.roles.length ? b : a), { group: NONE, roles: [] as Short[] });
    if (best.roles.length === 0) return undefined;
    const { ranks, serves } = best.group;
    const taken = ranks.splice(0, Math.min(...best.roles.map((role) => missing.get(role)!)));
    for (const role of serves) missing.set(role, missing.get(role)! - taken.length);
    picked.push(...taken);
  }
  return picked;
}

const NONE: Alike = { serves: [], ranks: [] };

/** Who was picked first may have become needless by who came after. */
function withoutNeedless(short: readonly Short[], picked: readonly number[]): number[] {
  const spare = new Map(
    short.map((role) => [role, picked.filter((rank) => role.set.hasRank(rank)).length - role.missing]),
  );
  return picked.filter((rank) => {
    const serves = short.filter(({ set }) => set.hasRank(rank));
    if (serves.some((role) => spare.get(role)! === 0)) return true;
    for (const role of serves) spare.set(role, spare.get(role)! - 1);
    return false;
  });
}

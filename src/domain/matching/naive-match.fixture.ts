import type { Requirement } from '../contract/contract.js';
import type { CapabilityEntry } from './fleet.js';

/** What the matcher's rules are about, and nothing else. */
export interface Offering {
  node_id: string;
  capabilities: CapabilityEntry[];
  /** Not live, and remembered: it comes behind all that are live. */
  silent?: boolean;
}

export interface Wanting {
  requires: readonly Requirement[];
  spread?: boolean;
}

/**
 * The reference for the matcher, written from the rules alone: the first complete assignment among these nodes, found by
 * trying every one there is; the nodes of each role, in its order. Undefined: there is none. Where it is wider than `cap`,
 * and not spread, the one in which each role prefers the nodes that serve more roles, if that one is not.
 */
export function naiveMatch(wanting: Wanting, nodes: readonly Offering[], cap = 0): string[][] | undefined {
  const { requires, spread } = wanting;
  const roles = (node: Offering): number => requires.filter((role) => canServe(role, node)).length;
  const found = firstMatch(wanting, nodes, () => 0);
  if (found === undefined || spread || cap === 0 || widthOf(found) <= cap) return found;
  const narrow = firstMatch(wanting, nodes, (a, b) => roles(b) - roles(a))!;
  return widthOf(narrow) <= cap ? narrow : found;
}

/** How many nodes a run takes however it is assigned. */
export function leastOf({ requires, spread = false }: Wanting): number {
  const counts = requires.map(({ count = 1 }) => count);
  return spread ? counts.reduce((a, b) => a + b) : Math.max(...counts);
}

function firstMatch(
  { requires, spread = false }: Wanting,
  nodes: readonly Offering[],
  before: (a: Offering, b: Offering) => number,
): string[][] | undefined {
  const preferred = [...nodes].sort(
    (a, b) =>
      before(a, b) ||
      Number(a.silent ?? false) - Number(b.silent ?? false) ||
      special(a) - special(b) ||
      (a.node_id < b.node_id ? -1 : 1),
  );
  const assign = (at: number, used: readonly string[]): string[][] | undefined => {
    const role = requires[at];
    if (role === undefined) return [];
    const able = preferred.filter((node) => canServe(role, node)).map(({ node_id }) => node_id);
    for (const chosen of combinations(able, role.count ?? 1)) {
      if (spread && chosen.some((node) => used.includes(node))) continue;
      const rest = assign(at + 1, [...used, ...chosen]);
      if (rest !== undefined) return [chosen, ...rest];
      // Roles that may share nodes take nothing from each other: another choice here changes nothing behind.
      if (!spread) return undefined;
    }
    return undefined;
  };
  return assign(0, []);
}

export function canServe({ capability, attrs = {} }: Requirement, node: Offering): boolean {
  return node.capabilities.some(
    (entry) =>
      entry.capability === capability &&
      Object.entries(attrs).every(
        ([name, value]) => (name === 'node_id' ? node.node_id : entry.attrs?.[name]) === value,
      ),
  );
}

/** How many nodes an assignment takes. */
export function widthOf(assignment: string[][]): number {
  return new Set(assignment.flat()).size;
}

function special({ capabilities }: Offering): number {
  return capabilities.flatMap(({ attrs = {} }) => Object.keys(attrs)).length;
}

function* combinations(of: readonly string[], count: number): Generator<string[]> {
  if (count === 0) return yield [];
  for (const [at, first] of of.entries()) {
    for (const rest of combinations(of.slice(at + 1), count - 1)) yield [first, ...rest];
  }
}

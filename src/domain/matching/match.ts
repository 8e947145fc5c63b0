/*
 * Which nodes a run gets. The preference, in plain words:
 *
 *  1. Unsatisfiable first. A role that fewer nodes satisfy than it counts cannot be had by waiting; with `spread`, neither
 *     can a run for which there is no assignment even if every node were free. All that exist count here: the unavailable
 *     ones, and those that are silent and may come back. Such a fault wins over one that passes, wherever in the contract
 *     each of them stands. Where only the silent ones make up for it the run waits, and no silent node is ever taken.
 *  2. Then busy. A role takes its nodes from those that are not unavailable; where they are too few, the run may wait.
 *  3. The least special node first: the one that advertises the fewest attributes over all its entries, then the smallest
 *     `node_id`. So what is rare stays free for who needs it, and the same input gives the same output.
 *  4. One node may serve several roles of a run, under one lease; the nodes of one role are distinct. With `spread` every
 *     role gets nodes of its own: roles in the order of the contract, each its most preferred nodes with which a complete
 *     assignment is still possible. One is found whenever there is one.
 *     Where a run would take more nodes than it may, it is looked at once more: each role takes the nodes that serve most
 *     roles of the run first.
 *  5. The first node of a role runs its steps; the others that it counts are leased beside it.
 *  6. Why a node is unavailable makes no difference.
 */
import type { Requirement } from '../contract/contract.js';
import { assignNarrow, widthOf } from './assign-narrow.js';
import { assign } from './assign.js';
import { CandidateSets } from './candidate-sets.js';
import { type Advert, type AssignedRole, byNodeId, type MatchedNode, type NodeSet } from './fleet.js';
import { RankedFleet } from './ranked-fleet.js';
import { describeShortage, type Shortage, type ShortOf } from './shortage.js';

/** `nodes`: the distinct ones, by `node_id`, the order in which a grant locks and leases them. */
export interface Matched {
  assigned: AssignedRole[];
  nodes: MatchedNode[];
}

/**
 * `busy` passes with time, `offline` when nodes that are silent speak again, `unsatisfiable` only with other adverts. `detail`
 * is a sentence for a person.
 */
export type MatchResult =
  | ({ kind: 'matched' } & Matched)
  /** `competing`: the roles that are short of nodes together, `as` among them; it alone, unless the run is spread. */
  | { kind: 'busy'; as: string; competing: string[]; detail: string }
  | { kind: 'offline'; as: string; requirement: Requirement; detail: string }
  | { kind: 'unsatisfiable'; as: string; requirement: Requirement; detail: string };

/**
 * The only matcher: submission, dry run, promotion, acquire and the reasons for waiting ask it. What fits the free nodes
 * fits the live ones, so the free ones are asked first; all live nodes only where those do not do, and all that exist,
 * `existing`, only where those do not either.
 *
 * `cap` is the most nodes that a run may lease, 0 for none: what is matched may still be wider, where nothing narrower was found.
 *
 * Cost, one role: as many nodes as it takes where there is room, otherwise all that share its rarest attribute. With
 * `spread` see `SpreadMatching`. Adverts that are not ranked yet are ranked first.
 */
export function match(
  requires: readonly Requirement[],
  spread: boolean,
  adverts: readonly Advert[] | RankedFleet,
  unavailable: NodeSet,
  { cap = 0, existing }: { cap?: number; existing?: () => RankedFleet } = {},
): MatchResult {
  const fleet = RankedFleet.of(adverts);
  const free = assign(requires, spread, fleet, unavailable);
  if ('nodes' in free) return { kind: 'matched', ...within(cap, free.nodes, { requires, spread, fleet, unavailable }) };
  const live = assign(requires, spread, fleet);
  if ('nodes' in live) return busy(requires, fleet, free.shortage);
  const known = existing?.() ?? fleet;
  const ever = known === fleet ? live : assign(requires, spread, known);
  if ('nodes' in ever) return tooFew('offline', requires, live.shortage, 'live');
  return tooFew('unsatisfiable', requires, ever.shortage, known.silent > 0 ? 'existing' : 'live');
}

/** The same, for who asks of the free nodes only, and not why there is no room: a sweep, of thousands of runs. */
export function matchFree(
  requires: readonly Requirement[],
  spread: boolean,
  fleet: RankedFleet,
  unavailable: NodeSet,
  cap = 0,
): Matched | undefined {
  const free = assign(requires, spread, fleet, unavailable);
  return 'nodes' in free ? within(cap, free.nodes, { requires, spread, fleet, unavailable }) : undefined;
}

interface Matching {
  requires: readonly Requirement[];
  spread: boolean;
  fleet: RankedFleet;
  unavailable: NodeSet;
}

/** What was found; or, where that is wider than the cap, what a second look finds, if that is not. A spread run has one width. */
function within(cap: number, found: number[][], { requires, spread, fleet, unavailable }: Matching): Matched {
  if (spread || !tooWide(widthOf(found), cap)) return onto(requires, fleet, found);
  const narrow = assignNarrow(requires, fleet, unavailable);
  return onto(requires, fleet, tooWide(widthOf(narrow), cap) ? found : narrow);
}

/** `cap`: the most nodes that a run may lease; 0: there is none. */
export function tooWide(nodes: number, cap: number): boolean {
  return cap > 0 && nodes > cap;
}

function onto(requires: readonly Requirement[], fleet: RankedFleet, ranks: number[][]): Matched {
  const nodes = new Map<number, MatchedNode>();
  const assigned = requires.map(({ as }, role) => ({
    as,
    nodes: (ranks[role] as number[]).map((rank) => {
      const { node_id, label, offer_rev } = fleet.at(rank);
      const known = nodes.get(rank);
      if (known === undefined) nodes.set(rank, { node_id, offer_rev, roles: [as] });
      else known.roles.push(as);
      return { node_id, label };
    }),
  }));
  return { assigned, nodes: [...nodes.values()].sort(byNodeId) };
}

function tooFew(
  kind: 'offline' | 'unsatisfiable',
  requires: readonly Requirement[],
  shortage: Shortage,
  of: ShortOf,
): MatchResult {
  const requirement = requires[shortage.at] as Requirement;
  return { kind, as: requirement.as, requirement, detail: describeShortage(requires, shortage, of) };
}

function busy(requires: readonly Requirement[], fleet: RankedFleet, shortage: Shortage): MatchResult {
  const competing = shortage.together.map((role) => requires[role] as Requirement);
  const live = CandidateSets.in(fleet).ofAny(competing).size;
  const { as } = requires[shortage.at] as Requirement;
  const detail = describeShortage(requires, shortage, { live });
  return { kind: 'busy', as, competing: competing.map((requirement) => requirement.as), detail };
}

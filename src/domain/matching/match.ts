import type { Requirement } from '../contract/contract.js';
import { assign } from './assign.js';
import { byNodeId } from './by-node-id.js';
import { CandidateSets } from './candidate-sets.js';
import { describeShortage } from './describe-shortage.js';
import type { Advert, MatchedNode, NodeSet } from './fleet.js';
import type { Matched, MatchResult } from './match-result.js';
import { RankedFleet } from './ranked-fleet.js';
import type { Shortage } from './shortage.js';

/**
 * The only matcher: submission, dry run, promotion, acquire and the reasons for waiting ask it. It does not know why a
 * node is unavailable. What fits the free nodes fits the live ones, so the free ones are asked first; where they do not
 * do, all requirements are asked again of all live nodes, and a fault that lasts wins over one that passes, wherever
 * each of them stands.
 *
 * Cost, one role: as many nodes as it takes where there is room, otherwise all that share its rarest attribute. With
 * `spread` see `SpreadMatching`. Adverts that are not ranked yet are ranked first.
 */
export function match(
  requires: readonly Requirement[],
  spread: boolean,
  adverts: readonly Advert[] | RankedFleet,
  unavailable: NodeSet,
): MatchResult {
  const fleet = RankedFleet.of(adverts);
  const free = assign(requires, spread, fleet, unavailable);
  if ('nodes' in free) return { kind: 'matched', ...onto(requires, fleet, free.nodes) };
  const live = assign(requires, spread, fleet);
  if ('nodes' in live) return busy(requires, fleet, free.shortage);
  const requirement = requires[live.shortage.at] as Requirement;
  const detail = describeShortage(requires, live.shortage);
  return { kind: 'unsatisfiable', as: requirement.as, requirement, detail };
}

/** The same, for who asks of the free nodes only, and not why there is no room: a sweep, of thousands of runs. */
export function matchFree(
  requires: readonly Requirement[],
  spread: boolean,
  fleet: RankedFleet,
  unavailable: NodeSet,
): Matched | undefined {
  const free = assign(requires, spread, fleet, unavailable);
  return 'nodes' in free ? onto(requires, fleet, free.nodes) : undefined;
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

function busy(requires: readonly Requirement[], fleet: RankedFleet, shortage: Shortage): MatchResult {
  const competing = shortage.together.map((role) => requires[role] as Requirement);
  const live = CandidateSets.in(fleet).ofAny(competing).size;
  const { as } = requires[shortage.at] as Requirement;
  const detail = describeShortage(requires, shortage, live);
  return { kind: 'busy', as, competing: competing.map((requirement) => requirement.as), detail };
}

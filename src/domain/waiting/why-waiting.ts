import type { Requirement } from '../contract/contract.js';
import { CandidateSets } from '../matching/candidate-sets.js';
import { fewestToLift } from '../matching/fewest-to-lift.js';
import {
  type ExistingNodes,
  type FleetUse,
  UNAVAILABILITIES,
  type Unavailability,
  type UnavailableNodes,
} from '../matching/fleet-use.js';
import { match, tooWide } from '../matching/match.js';
import { listed } from '../matching/shortage.js';
import { type Holding, waitingRole, type WaitingRole } from './waiting-role.js';

/** The first that holds; `reasonOf` says when each does. */
export type WaitingReason = 'OFFLINE' | 'TOO_WIDE' | 'DRAINING' | 'BUSY';

export interface Waiting {
  reason: WaitingReason;
  /** A sentence for a person. */
  detail: string;
  roles: WaitingRole[];
}

export interface WaitingInput {
  requires: readonly Requirement[];
  spread: boolean;
  /** The live nodes, and why some are unavailable. */
  use: FleetUse;
  /** Those, and the silent ones behind them. */
  existing: ExistingNodes;
  /** Leases, by node: at least of those that `shownHolders` names for its requirements. */
  holdings: ReadonlyMap<string, Holding>;
  /** The most nodes a run may lease; 0: no cap. */
  cap: number;
}

/** Why the run is not promoted, asked of the matcher that would promote it: so what is shown and what a sweep does agree. */
export function whyWaiting(input: WaitingInput): Waiting {
  const { use, existing, holdings } = input;
  const roles = input.requires.map((requirement) => waitingRole(requirement, { use, existing, holdings }));
  return { ...reasonOf(input), roles };
}

function reasonOf({
  requires,
  spread,
  use,
  existing,
  holdings,
  cap,
}: WaitingInput): Pick<Waiting, 'reason' | 'detail'> {
  const now = match(requires, spread, use.fleet, use.unavailable, { cap });
  if (now.kind === 'unsatisfiable' || now.kind === 'offline') {
    const silent = describeSilent(requires, existing);
    return { reason: 'OFFLINE', detail: `${now.detail}${silent} It waits until enough such nodes advertise.` };
  }
  if (now.kind === 'matched') {
    const wide = tooWide(now.nodes.length, cap);
    return wide ? { reason: 'TOO_WIDE', detail: describeWidth(now.nodes, cap) } : { reason: 'BUSY', detail: NOT_YET };
  }
  // A node that is busy counts as busy, whatever else: until it is released, no lifted drain or hold would free it.
  const ifInService = use.withdrawn.isEmpty ? now : match(requires, spread, use.fleet, use.ifInService);
  if (ifInService.kind === 'matched') {
    const ranks = fewestToLift(requires, spread, use)!;
    return { reason: 'DRAINING', detail: `${now.detail} It would fit if ${describeLift(ranks, use)}` };
  }
  const competing = requires.filter((requirement) => now.competing.includes(requirement.as));
  return { reason: 'BUSY', detail: `${now.detail}${describeBlockers(competing, use, holdings)}` };
}

/** The silent nodes that would do for some role: who could make the wait end by speaking again. */
function describeSilent(requires: readonly Requirement[], { fleet, silent }: ExistingNodes): string {
  if (fleet.silent === 0) return '';
  const set = CandidateSets.in(fleet).ofAny(requires);
  const words = set.firstIn(silent, SHOWN).map((rank) => fleet.at(rank).node_id);
  const count = set.countIn(silent);
  if (count > SHOWN) words.push(`${count - SHOWN} more`);
  return count === 0 ? '' : ` Silent: ${listed(words)}.`;
}

const NOT_YET = 'The nodes that it needs are free now; the next sweep will look at it.';

/** So many nodes are named in a sentence. */
const SHOWN = 8;

function describeWidth(nodes: readonly { node_id: string }[], cap: number): string {
  return `It would take ${nodes.length} nodes (${named(nodes)}), but a run may lease at most ${cap}.`;
}

/** `n1 were not draining and n2 were not held. n2 is held by ann: "broken".` */
function describeLift(ranks: readonly number[], use: FleetUse): string {
  const nodesIn = (of: UnavailableNodes): { node_id: string }[] =>
    ranks.filter((rank) => of.hasRank(rank)).map((rank) => use.fleet.at(rank));
  const [draining, held] = [nodesIn(use.draining), nodesIn(use.held)];
  const words = [
    ...(draining.length > 0 ? [`${named(draining)} were not draining`] : []),
    ...(held.length > 0 ? [`${named(held)} were not held`] : []),
  ];
  const holds = held.slice(0, NAMED).map(({ node_id }) => `${node_id} is held ${describeHold(node_id, use)}`);
  return [`${listed(words)}.`, ...(holds.length > 0 ? [`${listed(holds)}.`] : [])].join(' ');
}

function describeHold(nodeId: string, { holds }: FleetUse): string {
  const hold = holds.get(nodeId);
  return hold === undefined ? '' : `by ${hold.by}: ${JSON.stringify(hold.reason)}`;
}

function named(nodes: readonly { node_id: string }[]): string {
  const words = nodes.slice(0, SHOWN).map(({ node_id }) => node_id);
  if (nodes.length > SHOWN) words.push(`${nodes.length - SHOWN} more`);
  return listed(words);
}

/** So many blockers of each kind are named. */
const NAMED = 3;

const BLOCKED_BY = {
  busy: 'Leased',
  draining: 'Draining',
  held: 'Held',
  revived: 'Not heard from since the server came back',
} as const satisfies Record<Unavailability, string>;

/** No forecast: a run that goes on renews its lease with each heartbeat, and one that ends gives it up before. */
function describeLease(nodeId: string, { run_id, principal, not_after }: Holding): string {
  return `${nodeId} to run ${run_id} of ${principal} (until ${not_after} unless renewed)`;
}

/** Who has the nodes that the requirements compete for. Names a few of each kind: a fleet can be large. */
function describeBlockers(
  competing: readonly Requirement[],
  use: FleetUse,
  holdings: ReadonlyMap<string, Holding>,
): string {
  const set = CandidateSets.in(use.fleet).ofAny(competing);
  return UNAVAILABILITIES.map((how) => {
    const words = set.firstIn(use[how], NAMED).map((rank) => {
      const { node_id } = use.fleet.at(rank);
      if (how === 'held') return `${node_id} ${describeHold(node_id, use)}`;
      const holding = holdings.get(node_id);
      const blocker = holding === undefined ? node_id : describeLease(node_id, holding);
      return use.holds.has(node_id) ? `${blocker}, and held ${describeHold(node_id, use)}` : blocker;
    });
    if (words.length === 0) return '';
    const count = set.countIn(use[how]);
    if (count > NAMED) words.push(`${count - NAMED} more`);
    return ` ${BLOCKED_BY[how]}: ${listed(words)}.`;
  }).join('');
}

import type { Requirement } from '../contract/contract.js';
import type { FleetUse } from '../matching/fleet-use.js';
import { fewestToLift } from '../matching/fewest-to-lift.js';
import { listed } from '../matching/listed.js';
import { match } from '../matching/match.js';
import { tooWide } from '../matching/width.js';
import { describeBlockers } from './describe-blockers.js';
import { waitingRole } from './waiting-role.js';
import type { Holding, Waiting } from './waiting.js';

export interface WaitingInput {
  requires: readonly Requirement[];
  spread: boolean;
  /** The live nodes, and why some are unavailable. */
  use: FleetUse;
  /** Leases, by node: at least of those that `shownHolders` names for its requirements. */
  holdings: ReadonlyMap<string, Holding>;
  /** The most nodes a run may lease; 0: no cap. */
  cap: number;
}

/** Why the run is not promoted, asked of the matcher that would promote it: so what is shown and what a sweep does agree. */
export function whyWaiting(input: WaitingInput): Waiting {
  const roles = input.requires.map((requirement) => waitingRole(requirement, input.use, input.holdings));
  return { ...reasonOf(input), roles };
}

function reasonOf({ requires, spread, use, holdings, cap }: WaitingInput): Pick<Waiting, 'reason' | 'detail'> {
  const now = match(requires, spread, use.fleet, use.taken);
  if (now.kind === 'unsatisfiable')
    return { reason: 'OFFLINE', detail: `${now.detail} It waits until enough such nodes advertise.` };
  if (now.kind === 'matched') {
    const wide = tooWide(now.nodes.length, cap);
    return wide ? { reason: 'TOO_WIDE', detail: describeWidth(now.nodes, cap) } : { reason: 'BUSY', detail: NOT_YET };
  }
  // A node that is busy as well stays taken: when it has been given back, what is left of it is that it drains.
  const undrained = use.draining.isEmpty ? now : match(requires, spread, use.fleet, use.undrained);
  if (undrained.kind === 'matched') {
    const nodes = fewestToLift(requires, spread, use)!.map((rank) => use.fleet.at(rank));
    return { reason: 'DRAINING', detail: `${now.detail} It would fit if ${named(nodes)} were not draining.` };
  }
  const competing = requires.filter((requirement) => now.competing.includes(requirement.as));
  return { reason: 'BUSY', detail: `${now.detail}${describeBlockers(competing, use, holdings)}` };
}

const NOT_YET = 'The nodes that it needs are free now; the next sweep will look at it.';

const SHOWN = 8;

function describeWidth(nodes: readonly { node_id: string }[], cap: number): string {
  return `It would take ${nodes.length} nodes (${named(nodes)}), but a run may lease at most ${cap}.`;
}

function named(nodes: readonly { node_id: string }[]): string {
  const words = nodes.slice(0, SHOWN).map(({ node_id }) => node_id);
  if (nodes.length > SHOWN) words.push(`${nodes.length - SHOWN} more`);
  return listed(words);
}

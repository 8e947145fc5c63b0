import type { Requirement } from '../contract/contract.js';
import type { Advert } from '../matching/fleet.js';
import { listed } from '../matching/listed.js';
import { match } from '../matching/match.js';
import { RankedFleet } from '../matching/ranked-fleet.js';
import { tooWide } from '../matching/width.js';
import { describeBlockers } from './describe-blockers.js';
import { useOf, type FleetUse } from './fleet-use.js';
import { waitingRole } from './waiting-role.js';
import type { Waiting } from './waiting.js';

export interface WaitingInput extends FleetUse {
  requires: readonly Requirement[];
  spread: boolean;
  /** The live ones; ranked, where the reasons of several runs are wanted. */
  adverts: readonly Advert[] | RankedFleet;
  /** The most nodes a run may lease; 0: no cap. */
  cap: number;
}

/** Why the run is not promoted, asked of the matcher that would promote it: so what is shown and what a sweep does agree. */
export function whyWaiting(input: WaitingInput): Waiting {
  const fleet = RankedFleet.of(input.adverts);
  const roles = input.requires.map((requirement) => waitingRole(requirement, fleet, input));
  return { ...reasonOf(input, fleet), roles };
}

function reasonOf(input: WaitingInput, fleet: RankedFleet): Pick<Waiting, 'reason' | 'detail'> {
  const { requires, spread, cap } = input;
  const now = match(requires, spread, fleet, { has: (node) => useOf(node, input) !== 'free' });
  if (now.kind === 'unsatisfiable') return { reason: 'OFFLINE', detail: `Waits for other adverts. ${now.detail}` };
  if (now.kind === 'matched') {
    const wide = tooWide(now.nodes.length, cap);
    return wide ? { reason: 'TOO_WIDE', detail: describeWidth(now.nodes, cap) } : { reason: 'BUSY', detail: NOT_YET };
  }
  // A node that is busy as well stays taken: when it has been given back, what is left of it is that it drains.
  const taken = (node: string): boolean => ['busy', 'silent'].includes(useOf(node, input));
  const undrained = match(requires, spread, fleet, { has: taken });
  if (undrained.kind === 'matched') {
    const nodes = undrained.nodes.filter(({ node_id }) => useOf(node_id, input) === 'draining');
    return { reason: 'DRAINING', detail: `${now.detail} It would fit if ${named(nodes)} were not draining.` };
  }
  const competing = requires.filter((requirement) => now.competing.includes(requirement.as));
  return { reason: 'BUSY', detail: `${now.detail}${describeBlockers(competing, fleet, input)}` };
}

const NOT_YET = 'Nodes that fit it are free now; the next sweep looks at it.';

const SHOWN = 8;

function describeWidth(nodes: readonly { node_id: string }[], cap: number): string {
  return `It would take ${nodes.length} nodes (${named(nodes)}), and a run may lease at most ${cap}.`;
}

function named(nodes: readonly { node_id: string }[]): string {
  const words = nodes.slice(0, SHOWN).map(({ node_id }) => node_id);
  if (nodes.length > SHOWN) words.push(`${nodes.length - SHOWN} more`);
  return listed(words);
}

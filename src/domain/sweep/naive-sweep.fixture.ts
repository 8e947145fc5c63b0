import { match, tooWide } from '../matching/match.js';
import type { Advert } from '../matching/fleet.js';
import type { Requirement } from '../contract/contract.js';

export interface WaitingRun {
  run_id: string;
  requires: readonly Requirement[];
  spread: boolean;
}

export interface Promoted {
  run_id: string;
  nodes: string[];
}

/**
 * The sweep as it is told in one sentence: every queued run in order of arrival, each matched against what is free. What a
 * sweep of heads is compared with. `fails`: the promotion of these throws, and takes nothing.
 */
export function sweepNaively(
  queue: readonly WaitingRun[],
  adverts: readonly Advert[],
  unavailable: ReadonlySet<string>,
  cap: number,
  fails: ReadonlySet<string> = new Set(),
): Promoted[] {
  const taken = new Set(unavailable);
  const promoted: Promoted[] = [];
  for (const { run_id, requires, spread } of queue) {
    const found = match(requires, spread, adverts, taken);
    if (found.kind !== 'matched' || tooWide(found.nodes.length, cap) || fails.has(run_id)) continue;
    const nodes = found.nodes.map((node) => node.node_id);
    for (const node of nodes) taken.add(node);
    promoted.push({ run_id, nodes });
  }
  return promoted;
}

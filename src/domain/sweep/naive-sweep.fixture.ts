import type { Requirement } from '../contract/contract.js';
import type { Advert } from '../matching/fleet.js';
import { match, tooWide } from '../matching/match.js';

export interface WaitingRun {
  run_id: string;
  requires: readonly Requirement[];
  spread: boolean;
  /** It goes by itself. */
  serverSteps: boolean;
}

export interface Promoted {
  run_id: string;
  nodes: string[];
}

/**
 * The reference for a sweep, which is one sentence: every queued run in order of arrival, each matched against what is still
 * free. The matcher has a reference of its own. `fails`: the promotion of these throws, and takes nothing.
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
    const found = match(requires, spread, adverts, taken, { cap });
    if (found.kind !== 'matched' || tooWide(found.nodes.length, cap) || fails.has(run_id)) continue;
    const nodes = found.nodes.map((node) => node.node_id);
    for (const node of nodes) taken.add(node);
    promoted.push({ run_id, nodes });
  }
  return promoted;
}

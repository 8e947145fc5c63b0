import type { Requirement } from '../contract/contract.js';
import { CandidateSets } from '../matching/candidate-sets.js';
import type { FleetUse } from '../matching/fleet-use.js';
import type { Holding, WaitingRole } from './waiting.js';

/** So many holders are shown of a role. On a fleet that is all taken they are thousands; `busy` says how many. */
export const MOST_HOLDERS = 20;

/** `holdings`: the leases of at least the nodes of `shownHolders`; a node whose lease is gone has none, and is not shown. */
export function waitingRole(
  requirement: Requirement,
  use: FleetUse,
  holdings: ReadonlyMap<string, Holding>,
): WaitingRole {
  const set = CandidateSets.in(use.fleet).of(requirement);
  const [busy, draining, silent] = [use.busy, use.draining, use.silent].map((nodes) => set.countIn(nodes));
  const live = set.size;
  return {
    as: requirement.as,
    count: requirement.count ?? 1,
    live,
    free: live - busy! - draining! - silent!,
    busy: busy!,
    draining: draining!,
    holders: shownHolders(requirement, use).flatMap((node_id) => {
      const holding = holdings.get(node_id);
      if (holding === undefined) return [];
      const { run_id, principal, since, not_after } = holding;
      return [{ node_id, run_id, principal, since, not_after }];
    }),
  };
}

/** The busy nodes of the role whose holders are shown, those that the matcher prefers first. */
export function shownHolders(requirement: Requirement, use: FleetUse): string[] {
  const ranks = CandidateSets.in(use.fleet).of(requirement).firstIn(use.busy, MOST_HOLDERS);
  return ranks.map((rank) => use.fleet.at(rank).node_id);
}

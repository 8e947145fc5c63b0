import type { Requirement } from '../contract/contract.js';
import { CandidateSets } from '../matching/candidate-sets.js';
import { type ExistingNodes, type FleetUse, UNAVAILABILITIES } from '../matching/fleet-use.js';

/** The lease that keeps a node busy. The times are the database's words, passed on as they are. */
export interface Holding {
  run_id: string;
  /** Who submitted that run. */
  principal: string;
  since: string;
  not_after: string;
}

export interface Holder extends Holding {
  node_id: string;
}

/**
 * What a role could take. A node counts once: busy before draining before held before free. `live` is larger than the four
 * together by the nodes that have not spoken since the server came back.
 */
export interface WaitingRole {
  as: string;
  count: number;
  live: number;
  free: number;
  busy: number;
  draining: number;
  held: number;
  /** Nodes that offer it and are not live, but may come back; of these none is counted above. */
  silent: number;
  /** Of the busy ones, in the order in which the matcher prefers them; not more than a person can look at. */
  holders: Holder[];
}

/** So many holders are shown of a role. On a fleet that is all taken they are thousands; `busy` says how many. */
export const MOST_HOLDERS = 20;

/** `holdings`: the leases of at least the nodes of `shownHolders`; a node whose lease is gone has none, and is not shown. */
export function waitingRole(
  requirement: Requirement,
  { use, existing, holdings }: { use: FleetUse; existing: ExistingNodes; holdings: ReadonlyMap<string, Holding> },
): WaitingRole {
  const set = CandidateSets.in(use.fleet).of(requirement);
  const [busy, draining, held, revived] = UNAVAILABILITIES.map((one) => set.countIn(use[one]));
  const live = set.size;
  return {
    as: requirement.as,
    count: requirement.count ?? 1,
    live,
    free: live - busy! - draining! - held! - revived!,
    busy: busy!,
    draining: draining!,
    held: held!,
    silent: CandidateSets.in(existing.fleet).of(requirement).countIn(existing.silent),
    holders: shownHolders(requirement, use).flatMap((node_id) => {
      const holding = holdings.get(node_id);
      if (holding === undefined) return [];
      const { run_id, principal, since, not_after } = holding;
      return [{ node_id, run_id, principal, since, not_after }];
    }),
  };
}

/** Who holds the nodes that the roles could take, each node once. */
export function holdersOf(roles: readonly WaitingRole[]): Holder[] {
  return [...new Map(roles.flatMap(({ holders }) => holders).map((holder) => [holder.node_id, holder])).values()];
}

/** The busy nodes of the role whose holders are shown, those that the matcher prefers first. */
export function shownHolders(requirement: Requirement, use: FleetUse): string[] {
  const ranks = CandidateSets.in(use.fleet).of(requirement).firstIn(use.busy, MOST_HOLDERS);
  return ranks.map((rank) => use.fleet.at(rank).node_id);
}

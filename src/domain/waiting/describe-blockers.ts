import type { Requirement } from '../contract/contract.js';
import { CandidateSets } from '../matching/candidate-sets.js';
import type { FleetUse, Unavailability } from '../matching/fleet-use.js';
import { listed } from '../matching/listed.js';
import type { Holding } from './waiting.js';

const NAMED = 3;

const HEADS = {
  busy: 'Held',
  draining: 'Draining',
  silent: 'Not heard from since the server came back',
} as const satisfies Record<Unavailability, string>;

/** Who has the nodes that the requirements compete for. Names a few of each kind: a fleet can be large. */
export function describeBlockers(
  competing: readonly Requirement[],
  use: FleetUse,
  holdings: ReadonlyMap<string, Holding>,
): string {
  const set = CandidateSets.in(use.fleet).ofAny(competing);
  return (['busy', 'draining', 'silent'] as const)
    .map((how) => {
      const words = set.firstIn(use[how], NAMED).map((rank) => {
        const { node_id } = use.fleet.at(rank);
        const holding = holdings.get(node_id);
        if (holding === undefined) return node_id;
        const { run_id, principal, not_after } = holding;
        // No forecast: a run that goes on renews its lease with each heartbeat, and one that ends gives it up before.
        return `${node_id} by run ${run_id} of ${principal} (leased until ${not_after} unless renewed)`;
      });
      if (words.length === 0) return '';
      const count = set.countIn(use[how]);
      if (count > NAMED) words.push(`${count - NAMED} more`);
      return ` ${HEADS[how]}: ${listed(words)}.`;
    })
    .join('');
}

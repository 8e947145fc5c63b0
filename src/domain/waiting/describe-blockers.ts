import type { Requirement } from '../contract/contract.js';
import { CandidateSets } from '../matching/candidate-sets.js';
import type { FleetUse, Unavailability } from '../matching/fleet-use.js';
import { listed } from '../matching/listed.js';
import type { Holding } from './waiting.js';

const NAMED = 3;

const HEADS = {
  busy: 'Held',
  draining: 'Draining',
  silent: 'Not heard of since the server came back',
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
        return holding === undefined ? node_id : `${node_id} by run ${holding.run_id} until ${holding.not_after}`;
      });
      if (words.length === 0) return '';
      const count = set.countIn(use[how]);
      if (count > NAMED) words.push(`${count - NAMED} more`);
      return ` ${HEADS[how]}: ${listed(words)}.`;
    })
    .join('');
}

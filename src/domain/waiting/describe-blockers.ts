import type { Requirement } from '../contract/contract.js';
import { candidates } from '../matching/candidates.js';
import { listed } from '../matching/listed.js';
import type { RankedFleet } from '../matching/ranked-fleet.js';
import { useOf, type FleetUse } from './fleet-use.js';

const NAMED = 3;

/** Who has the nodes that the requirements compete for. Names a few of each kind: a fleet can be large. */
export function describeBlockers(competing: readonly Requirement[], fleet: RankedFleet, use: FleetUse): string {
  const words = { busy: [] as string[], draining: [] as string[], silent: [] as string[] };
  for (const rank of new Set(competing.flatMap((requirement) => candidates(requirement, fleet)))) {
    const { node_id } = fleet.at(rank);
    const how = useOf(node_id, use);
    if (how === 'free') continue;
    const holding = use.busy.get(node_id);
    words[how].push(holding === undefined ? node_id : `${node_id} by run ${holding.run_id} until ${holding.not_after}`);
  }
  return [
    sentence('Held', words.busy),
    sentence('Draining', words.draining),
    sentence('Not heard of since the server came back', words.silent),
  ].join('');
}

function sentence(head: string, words: string[]): string {
  if (words.length === 0) return '';
  const shown = words.slice(0, NAMED);
  if (words.length > NAMED) shown.push(`${words.length - NAMED} more`);
  return ` ${head}: ${listed(shown)}.`;
}

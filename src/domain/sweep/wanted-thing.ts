import type { Requirement } from '../contract/contract.js';
import type { Advert, CapabilityEntry } from '../matching/fleet.js';
import { namedNode } from '../matching/named-node.js';

/**
 * One thing that a node must offer to be of use to a run: a capability, or one attribute of it. Every node that satisfies
 * the run's first requirement offers it, and a run goes nowhere without such a node; so who looks for what the free nodes
 * offer finds every run that can go, and few that cannot.
 */
export function wantedThing([first]: readonly Requirement[]): string {
  const { capability, attrs = {} } = first!;
  const node = namedNode(first!);
  if (node !== undefined) return thing(capability, 'node_id', node);
  const [attribute] = Object.keys(attrs).sort();
  return attribute === undefined ? thing(capability) : thing(capability, attribute, attrs[attribute]!);
}

/** Everything about this node that a run can want. */
export function offeredThings({ node_id, capabilities }: Advert): string[] {
  return capabilities.flatMap((entry) => thingsOf(node_id, entry));
}

function thingsOf(nodeId: string, { capability, attrs = {} }: CapabilityEntry): string[] {
  return [
    thing(capability),
    thing(capability, 'node_id', nodeId),
    ...Object.entries(attrs).map(([attribute, value]) => thing(capability, attribute, value)),
  ];
}

function thing(...words: string[]): string {
  return JSON.stringify(words);
}

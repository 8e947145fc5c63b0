import type { Requirement } from '../contract/contract.js';
import type { Advert, CapabilityEntry } from '../matching/fleet.js';
import { namedNode } from '../matching/satisfies.js';
import type { QueuedRun, RunsInOrder } from './runs-in-order.js';

/** What every run of a group requires: the matcher has room for all of them or for none. */
export interface GroupRequirements {
  signature: string;
  requires: readonly Requirement[];
  spread: boolean;
}

/** The queued runs that require the same. */
export interface RequirementGroup extends GroupRequirements {
  trait: string;
  runs: RunsInOrder;
}

/** A group as a sweep goes through it, one run after the other. */
export interface OldestOfGroup extends GroupRequirements {
  /** The oldest run that the sweep has not looked at. */
  oldest: QueuedRun;
}

/**
 * One trait that a node must offer to be of use to a run: a capability, or one attribute of it. Every node that satisfies
 * the first requirement offers it, and the run is promoted nowhere without such a node; so who looks for the traits of the
 * free nodes finds every run that can be promoted, and few others.
 */
export function requiredTrait([first]: readonly Requirement[]): string {
  const { capability, attrs = {} } = first!;
  const node = namedNode(first!);
  if (node !== undefined) return trait(capability, 'node_id', node);
  const [attribute] = Object.keys(attrs).sort();
  return attribute === undefined ? trait(capability) : trait(capability, attribute, attrs[attribute]!);
}

/** Every trait of a node that a run can require. */
export function offeredTraits({ node_id, capabilities }: Advert): string[] {
  return capabilities.flatMap((entry) => traitsOf(node_id, entry));
}

function traitsOf(nodeId: string, { capability, attrs = {} }: CapabilityEntry): string[] {
  return [
    trait(capability),
    trait(capability, 'node_id', nodeId),
    ...Object.entries(attrs).map(([attribute, value]) => trait(capability, attribute, value)),
  ];
}

function trait(...words: string[]): string {
  return JSON.stringify(words);
}

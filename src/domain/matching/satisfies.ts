import type { Requirement } from '../contract/contract.js';
import type { Advert, CapabilityEntry } from './fleet.js';

/** One single entry must have all of it: two halves in two entries are two things, not one. */
export function satisfies(requirement: Requirement, advert: Advert): boolean {
  const named = namedNode(requirement);
  if (named !== undefined && named !== advert.node_id) return false;
  return advert.capabilities.some((entry) => offers(entry, requirement));
}

/** The one node that a requirement asks for by name, with the reserved attribute `node_id`. */
export function namedNode(requirement: Requirement): string | undefined {
  const attrs = requirement.attrs;
  return attrs !== undefined && Object.hasOwn(attrs, 'node_id') ? attrs.node_id : undefined;
}

/**
 * One entry has the wanted capability and every wanted attribute; more than that never hurts. The reserved attribute
 * `node_id` is the node's, no entry's: it is judged where the node is known. Attribute names are other people's words,
 * so only own properties count: `constructor` is an attribute like any other.
 */
export function offers(entry: CapabilityEntry, wanted: CapabilityEntry): boolean {
  if (entry.capability !== wanted.capability) return false;
  for (const key in wanted.attrs) {
    if (key === 'node_id' || !Object.hasOwn(wanted.attrs, key)) continue;
    if (entry.attrs === undefined || !Object.hasOwn(entry.attrs, key)) return false;
    if (entry.attrs[key] !== wanted.attrs[key]) return false;
  }
  return true;
}

/**
 * Whether some requirement is satisfied by the new advert and was not by the last. The most that an entry satisfies is
 * the requirement that asks for exactly that entry, so it is enough to ask whether one entry of the last offered it.
 */
export function widens(before: CapabilityEntry[], after: CapabilityEntry[]): boolean {
  return after.some((entry) => !before.some((old) => offers(old, entry)));
}

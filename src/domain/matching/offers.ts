import type { CapabilityEntry } from './fleet.js';

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

import type { CapabilityEntry } from './fleet.js';
import { offers } from './offers.js';

/**
 * Whether some requirement is satisfied by the new advert and was not by the last. The most that an entry satisfies is
 * the requirement that asks for exactly that entry, so it is enough to ask whether one entry of the last offered it.
 */
export function widens(before: CapabilityEntry[], after: CapabilityEntry[]): boolean {
  return after.some((entry) => !before.some((old) => offers(old, entry)));
}

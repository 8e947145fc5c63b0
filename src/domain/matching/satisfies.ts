import type { Requirement } from '../contract/contract.js';
import type { Advert } from './fleet.js';
import { namedNode } from './named-node.js';
import { offers } from './offers.js';

/** One single entry must have all of it: two halves in two entries are two things, not one. */
export function satisfies(requirement: Requirement, advert: Advert): boolean {
  const named = namedNode(requirement);
  if (named !== undefined && named !== advert.node_id) return false;
  return advert.capabilities.some((entry) => offers(entry, requirement));
}

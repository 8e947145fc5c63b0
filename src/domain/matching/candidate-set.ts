import type { Requirement } from '../contract/contract.js';
import { candidates } from './candidates.js';
import type { RankedFleet } from './ranked-fleet.js';

/** Every live node that some requirement of the run could take, one bit per rank. */
export type CandidateSet = Uint32Array;

export function candidateSet(requires: readonly Requirement[], fleet: RankedFleet): CandidateSet {
  const set = new Uint32Array((fleet.adverts.length + 31) >>> 5);
  for (const requirement of requires) {
    for (const rank of candidates(requirement, fleet)) set[rank >>> 5]! |= 1 << (rank & 31);
  }
  return set;
}

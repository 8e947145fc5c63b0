import type { Requirement } from '../contract/contract.js';
import { candidateSet, type CandidateSet } from '../matching/candidate-set.js';
import type { Advert } from '../matching/fleet.js';
import { RankedFleet } from '../matching/ranked-fleet.js';

/** Older runs that require the same. Equal signatures stand for equal requirements; `count` (1) says how many runs they are. */
export interface Older {
  signature: string;
  requires: readonly Requirement[];
  count?: number;
}

/** Signature → candidates. One map for a page of the queue, made for one reading of the fleet and thrown away with it. */
export type CandidateMemo = Map<string, CandidateSet>;

/** At one bit per node, 12 MB on 10,000 nodes. Beyond it a set is computed each time it is wanted. */
const REMEMBERED = 10_000;

/**
 * How many of the older runs could take a live node that this one could take, free or not. Each signature's candidates
 * are found once per memo; after that a pair costs one step per 32 nodes at most.
 */
export function aheadOf(
  mine: readonly Requirement[],
  older: Iterable<Older>,
  adverts: readonly Advert[] | RankedFleet,
  memo: CandidateMemo = new Map(),
): number {
  const fleet = RankedFleet.of(adverts);
  const wanted = candidateSet(mine, fleet);
  const shares = new Map<string, boolean>();
  let ahead = 0;
  for (const { signature, requires, count = 1 } of older) {
    let shared = shares.get(signature);
    if (shared === undefined) {
      shared = intersect(wanted, remembered(memo, signature, requires, fleet));
      shares.set(signature, shared);
    }
    if (shared) ahead += count;
  }
  return ahead;
}

function remembered(
  memo: CandidateMemo,
  signature: string,
  requires: readonly Requirement[],
  fleet: RankedFleet,
): CandidateSet {
  const known = memo.get(signature);
  if (known !== undefined) return known;
  const set = candidateSet(requires, fleet);
  if (memo.size < REMEMBERED) memo.set(signature, set);
  return set;
}

function intersect(a: CandidateSet, b: CandidateSet): boolean {
  for (let word = 0; word < a.length; word++) if ((a[word]! & b[word]!) !== 0) return true;
  return false;
}

import type { CandidateSet } from '../matching/candidate-set.js';

/** Something with the nodes that it could take. */
interface Indexed {
  candidates: CandidateSet;
  /** The last question that it was found for. */
  foundFor?: number;
}

/**
 * Finds who could take a node that others could take. Whoever has few candidates is found by node; those with many, of
 * whom several most often share a set, are compared set by set.
 */
export class SharedCandidates<T extends Indexed> {
  readonly #few: T[] = [];
  readonly #byNode = new Map<number, T[]>();
  readonly #bySet = new Map<CandidateSet, T[]>();
  #questions = 0;

  constructor(all: Iterable<T>) {
    for (const one of all) {
      const { few } = one.candidates;
      if (few === undefined) put(this.#bySet, one.candidates, one);
      else {
        this.#few.push(one);
        for (const rank of few) put(this.#byNode, rank, one);
      }
    }
  }

  /** Each of them that could take one of these nodes, once. */
  sharing(wanted: CandidateSet): T[] {
    const found = wanted.few ? this.#onAny(wanted.few) : this.#few.filter(({ candidates }) => wanted.meets(candidates));
    for (const [set, those] of this.#bySet) if (wanted.meets(set)) for (const one of those) found.push(one);
    return found;
  }

  #onAny(ranks: readonly number[]): T[] {
    const question = ++this.#questions;
    const found: T[] = [];
    for (const rank of ranks) {
      for (const one of this.#byNode.get(rank) ?? []) {
        if (one.foundFor === question) continue;
        one.foundFor = question;
        found.push(one);
      }
    }
    return found;
  }
}

function put<Key, T>(lists: Map<Key, T[]>, key: Key, one: T): void {
  const list = lists.get(key);
  if (list === undefined) lists.set(key, [one]);
  else list.push(one);
}

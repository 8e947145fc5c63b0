import type { Requirement } from '../contract/contract.js';
import { CandidateSet } from './candidate-set.js';
import { allCandidates, type OfferBits } from './candidates.js';
import type { RankedFleet } from './ranked-fleet.js';

/** At one bit per node, 25 MB on 10,000 nodes if each of them had many candidates. */
const REMEMBERED = 20_000;

/**
 * The candidates of requirements in one fleet, found once: they depend on what is offered, not on what is free, and a
 * fleet is the same object for as long as nobody's offer changes, comes or goes.
 */
export class CandidateSets {
  static readonly #known = new WeakMap<RankedFleet, CandidateSets>();
  readonly #byRequirement = new Map<string, CandidateSet>();
  readonly #bits: OfferBits = new Map();
  readonly #bySignature = new Map<string, CandidateSet>();
  /** By their hash. */
  readonly #distinct = new Map<number, CandidateSet[]>();

  private constructor(private readonly fleet: RankedFleet) {}

  static in(fleet: RankedFleet): CandidateSets {
    let sets = this.#known.get(fleet);
    if (sets === undefined) this.#known.set(fleet, (sets = new CandidateSets(fleet)));
    return sets;
  }

  /** The live nodes that satisfy the requirement. */
  of(requirement: Requirement): CandidateSet {
    const { capability, attrs } = requirement;
    return remembered(this.#byRequirement, JSON.stringify([capability, attrs]), () =>
      this.#shared(CandidateSet.of(allCandidates(requirement, this.fleet, this.#bits), this.fleet)),
    );
  }

  /** The live nodes that satisfy some of the requirements. */
  ofAny(requires: readonly Requirement[]): CandidateSet {
    const sets = requires.map((requirement) => this.of(requirement));
    return sets.length === 1 ? sets[0]! : this.#shared(CandidateSet.union(sets, this.fleet));
  }

  /** The same, for a caller that knows the signature: equal ones stand for equal requirements. */
  ofSignature(signature: string, requires: readonly Requirement[]): CandidateSet {
    return remembered(this.#bySignature, signature, () => this.ofAny(requires));
  }

  /** The set that is known already, where it is equal: most nodes of a fleet offer much the same, however it is asked for. */
  #shared(set: CandidateSet): CandidateSet {
    const alike = remembered(this.#distinct, set.hash, () => []);
    const known = alike.find((one) => one.equals(set));
    if (known === undefined) alike.push(set);
    return known ?? set;
  }
}

function remembered<Key, T>(known: Map<Key, T>, key: Key, find: () => T): T {
  let one = known.get(key);
  if (one === undefined) {
    if (known.size >= REMEMBERED) known.clear();
    known.set(key, (one = find()));
  }
  return one;
}

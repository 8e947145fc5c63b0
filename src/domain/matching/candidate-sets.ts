import type { Requirement } from '../contract/contract.js';
import { CandidateSet } from './candidate-set.js';
import type { RankedFleet } from './ranked-fleet.js';
import { type OfferBits, satisfying } from './satisfying.js';

/** At one bit per node, 25 MB on 10,000 nodes if each of them had many candidates. */
const REMEMBERED = 20_000;

/**
 * The candidates of requirements in one fleet, found once: they depend on what is offered, not on what is taken, and a
 * fleet is the same object for as long as nobody's offer changes, comes or goes.
 */
export class CandidateSets {
  static readonly #known = new WeakMap<RankedFleet, CandidateSets>();
  readonly #byRequirement = new Map<string, CandidateSet>();
  readonly #bits: OfferBits = new Map();
  readonly #bySignature = new Map<string, CandidateSet>();

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
      CandidateSet.of(satisfying(requirement, this.fleet, this.#bits), this.fleet),
    );
  }

  /** The live nodes that satisfy some of the requirements. */
  ofAny(requires: readonly Requirement[]): CandidateSet {
    const sets = requires.map((requirement) => this.of(requirement));
    return sets.length === 1 ? sets[0]! : CandidateSet.union(sets, this.fleet);
  }

  /** The same, for who knows the signature: equal ones stand for equal requirements. */
  ofSignature(signature: string, requires: readonly Requirement[]): CandidateSet {
    return remembered(this.#bySignature, signature, () => this.ofAny(requires));
  }
}

function remembered(sets: Map<string, CandidateSet>, key: string, find: () => CandidateSet): CandidateSet {
  let set = sets.get(key);
  if (set === undefined) {
    if (sets.size >= REMEMBERED) sets.clear();
    sets.set(key, (set = find()));
  }
  return set;
}

import type { Requirement } from '../contract/contract.js';
import { type Advert, byNodeId, type CapabilityEntry } from './fleet.js';
import { namedNode } from './satisfies.js';

/** One entry of one node; `rank` is where the node stands in the order of preference. */
export interface Offer {
  rank: number;
  entry: CapabilityEntry;
}

/** Offers of one capability, by rank. */
export interface OffersOf {
  all: readonly Offer[];
  /** Those that have this attribute with this value; undefined: none has. */
  having: (attribute: string, value: string) => readonly Offer[] | undefined;
}

interface OfCapability {
  offers: Offer[];
  /** Attribute → value → the offers that have it. An attribute is indexed when it is first asked for. */
  by: Map<string, Map<string, Offer[]>>;
}

const NONE: readonly Offer[] = [];

/**
 * The adverts in the order in which the matcher prefers them, and by what they offer: the live ones, or with the silent
 * ones behind them, where it is asked what exists. To sort and index 10,000
 * nodes takes milliseconds, a match that finds room among them microseconds: who matches more than once against one
 * reading of the fleet (a sweep, a page of the queue) ranks it once. The adverts must not change while it is in use.
 */
export class RankedFleet {
  /** Least special first, so that what is rare stays free for who needs it. The index in this list is the node's rank. */
  readonly adverts: readonly Advert[];
  private readonly ranks = new Map<string, number>();
  private readonly capabilities = new Map<string, OfCapability>();

  /** `silent`: nodes that are not live and may come back, each less preferred than any that is. */
  static of(adverts: readonly Advert[] | RankedFleet, silent: readonly Advert[] = []): RankedFleet {
    if (adverts instanceof RankedFleet && silent.length === 0) return adverts;
    const live = adverts instanceof RankedFleet ? adverts.adverts : byPreference(adverts);
    return new RankedFleet([...live, ...byPreference(silent)], silent.length);
  }

  private constructor(
    adverts: readonly Advert[],
    /** How many of them, the last ones, are silent. */
    readonly silent: number,
  ) {
    this.adverts = adverts;
    this.adverts.forEach((advert, rank) => {
      this.ranks.set(advert.node_id, rank);
      for (const entry of advert.capabilities) this.index(rank, entry);
    });
  }

  at(rank: number): Advert {
    return this.adverts[rank] as Advert;
  }

  /** Undefined for a node that is not among them. */
  rankOf(nodeId: string): number | undefined {
    return this.ranks.get(nodeId);
  }

  /** The shortest list, by rank, that holds every offer which may satisfy the requirement; each has still to be judged. */
  offersFor(requirement: Requirement): readonly Offer[] {
    const known = this.capabilities.get(requirement.capability);
    if (known === undefined) return NONE;
    const named = namedNode(requirement);
    if (named !== undefined) return this.offersOf(named);
    let shortest = known.offers;
    for (const [key, value] of Object.entries(requirement.attrs ?? {})) {
      const narrowed = byAttribute(known, key).get(value);
      if (narrowed === undefined) return NONE;
      if (narrowed.length < shortest.length) shortest = narrowed;
    }
    return shortest;
  }

  /** All offers of a capability; undefined: there are none. */
  offersOfCapability(capability: string): OffersOf | undefined {
    const known = this.capabilities.get(capability);
    return known && { all: known.offers, having: (attribute, value) => byAttribute(known, attribute).get(value) };
  }

  private offersOf(nodeId: string): readonly Offer[] {
    const rank = this.ranks.get(nodeId);
    return rank === undefined ? NONE : this.at(rank).capabilities.map((entry) => ({ rank, entry }));
  }

  private index(rank: number, entry: CapabilityEntry): void {
    const known = this.capabilities.get(entry.capability);
    if (known === undefined) this.capabilities.set(entry.capability, { offers: [{ rank, entry }], by: new Map() });
    else known.offers.push({ rank, entry });
  }
}

function byPreference(adverts: readonly Advert[]): Advert[] {
  return adverts
    .map((advert) => ({ advert, special: countAttributes(advert) }))
    .sort((a, b) => a.special - b.special || byNodeId(a.advert, b.advert))
    .map(({ advert }) => advert);
}

function countAttributes(advert: Advert): number {
  return advert.capabilities.reduce((sum, { attrs }) => sum + (attrs === undefined ? 0 : Object.keys(attrs).length), 0);
}

function byAttribute(capability: OfCapability, key: string): Map<string, Offer[]> {
  let values = capability.by.get(key);
  if (values !== undefined) return values;
  values = new Map();
  for (const offer of capability.offers) {
    const attrs = offer.entry.attrs;
    if (attrs === undefined || !Object.hasOwn(attrs, key)) continue;
    const value = attrs[key] as string;
    const list = values.get(value);
    if (list === undefined) values.set(value, [offer]);
    else list.push(offer);
  }
  capability.by.set(key, values);
  return values;
}

import type { NodeSet } from './fleet.js';
import type { RankedFleet } from './ranked-fleet.js';

/** Unavailable nodes of one reading of the fleet, one bit per rank: the matcher asks for thousands of nodes at once. */
export class UnavailableNodes implements NodeSet {
  private constructor(
    readonly fleet: RankedFleet,
    /** One for each rank; of the last word some stand for nobody. */
    readonly bits: Uint32Array,
  ) {}

  static of(fleet: RankedFleet, names: NodeSet): UnavailableNodes {
    const nodes = new UnavailableNodes(fleet, new Uint32Array((fleet.adverts.length + 31) >>> 5));
    fleet.adverts.forEach(({ node_id }, rank) => names.has(node_id) && nodes.addRank(rank));
    return nodes;
  }

  copy(): UnavailableNodes {
    return new UnavailableNodes(this.fleet, this.bits.slice());
  }

  /** Those of both, as a set of its own. */
  with(others: UnavailableNodes): UnavailableNodes {
    const both = this.copy();
    for (let word = 0; word < both.bits.length; word++) both.bits[word]! |= others.bits[word]!;
    return both;
  }

  get isEmpty(): boolean {
    return this.bits.every((word) => word === 0);
  }

  has(nodeId: string): boolean {
    const rank = this.fleet.rankOf(nodeId);
    return rank !== undefined && this.hasRank(rank);
  }

  hasRank(rank: number): boolean {
    return (this.bits[rank >>> 5]! & (1 << (rank & 31))) !== 0;
  }

  /** A node that is not live is no candidate anyway. */
  add(nodeId: string): void {
    const rank = this.fleet.rankOf(nodeId);
    if (rank !== undefined) this.addRank(rank);
  }

  delete(nodeId: string): void {
    const rank = this.fleet.rankOf(nodeId);
    if (rank !== undefined) this.bits[rank >>> 5]! &= ~(1 << (rank & 31));
  }

  /** The ranks of the nodes that are free, most preferred first; at most so many. */
  free(limit: number): number[] {
    const ranks: number[] = [];
    const count = this.fleet.adverts.length;
    for (let word = 0; word < this.bits.length && ranks.length < limit; word++) {
      if (this.bits[word] === 0xffffffff) continue;
      for (let rank = word << 5; rank < Math.min(count, (word + 1) << 5) && ranks.length < limit; rank++) {
        if (!this.hasRank(rank)) ranks.push(rank);
      }
    }
    return ranks;
  }

  private addRank(rank: number): void {
    this.bits[rank >>> 5]! |= 1 << (rank & 31);
  }
}

/** Why a live node is unavailable. Whatever else is true of it, it counts in the first; `revived`: not heard of since an outage. */
export type Unavailability = 'busy' | 'draining' | 'revived';

/** The nodes of one reading of the fleet by why they are unavailable. */
export class FleetUse implements Record<Unavailability, UnavailableNodes> {
  #unavailable: UnavailableNodes | undefined;
  #ifNoneDrained: UnavailableNodes | undefined;

  private constructor(
    readonly fleet: RankedFleet,
    readonly busy: UnavailableNodes,
    readonly draining: UnavailableNodes,
    readonly revived: UnavailableNodes,
  ) {}

  /** `useOf`: why a node is unavailable; undefined: it is free. */
  static of(fleet: RankedFleet, useOf: (nodeId: string) => Unavailability | undefined): FleetUse {
    const setOf = (use: Unavailability): UnavailableNodes =>
      UnavailableNodes.of(fleet, { has: (node) => useOf(node) === use });
    return new FleetUse(fleet, setOf('busy'), setOf('draining'), setOf('revived'));
  }

  copy(): FleetUse {
    return new FleetUse(this.fleet, this.busy.copy(), this.draining.copy(), this.revived.copy());
  }

  put(nodeId: string, use: Unavailability | undefined): void {
    this.#unavailable = this.#ifNoneDrained = undefined;
    for (const one of ['busy', 'draining', 'revived'] as const) this[one][one === use ? 'add' : 'delete'](nodeId);
  }

  /** All of them. Not to be changed: whoever wants to, takes a copy. */
  get unavailable(): UnavailableNodes {
    return (this.#unavailable ??= this.draining.with(this.ifNoneDrained));
  }

  /** Those that would be unavailable if none were draining. */
  get ifNoneDrained(): UnavailableNodes {
    return (this.#ifNoneDrained ??= this.busy.with(this.revived));
  }
}

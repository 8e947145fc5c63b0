import type { NodeSet } from './fleet.js';
import type { RankedFleet } from './ranked-fleet.js';

/** The unavailable nodes of one reading of the fleet, one bit per rank: asked by the matcher for thousands of nodes at once. */
export class TakenNodes implements NodeSet {
  private constructor(
    readonly fleet: RankedFleet,
    /** One for each rank; of the last word some stand for nobody. */
    readonly bits: Uint32Array,
  ) {}

  static of(fleet: RankedFleet, taken: NodeSet): TakenNodes {
    const nodes = new TakenNodes(fleet, new Uint32Array((fleet.adverts.length + 31) >>> 5));
    fleet.adverts.forEach(({ node_id }, rank) => taken.has(node_id) && nodes.addRank(rank));
    return nodes;
  }

  copy(): TakenNodes {
    return new TakenNodes(this.fleet, this.bits.slice());
  }

  /** Those of both, as a set of its own. */
  with(others: TakenNodes): TakenNodes {
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

import type { UnavailableNodes } from './fleet-use.js';
import type { RankedFleet } from './ranked-fleet.js';

/** So many are kept as a list: of 10,000 nodes it is quicker to ask for each of them than to go through all bits. */
const FEW = 64;

/** Live nodes that some requirement could take, free or not, by rank. */
export class CandidateSet {
  private constructor(
    readonly size: number,
    /** In ascending order, or one bit per rank. */
    private readonly nodes: { few: readonly number[] } | { bits: Uint32Array },
  ) {}

  /** `ranks` in ascending order, each once. */
  static of(ranks: readonly number[], fleet: RankedFleet): CandidateSet {
    if (ranks.length <= FEW) return new CandidateSet(ranks.length, { few: ranks.slice() });
    const bits = noBits(fleet);
    addAll(bits, ranks);
    return new CandidateSet(ranks.length, { bits });
  }

  static union(sets: readonly CandidateSet[], fleet: RankedFleet): CandidateSet {
    const few = sets.flatMap(({ nodes }) => ('few' in nodes ? nodes.few : []));
    const many = sets.flatMap(({ nodes }) => ('bits' in nodes ? [nodes.bits] : []));
    if (many.length === 0)
      return this.of(
        [...new Set(few)].sort((a, b) => a - b),
        fleet,
      );
    const bits = noBits(fleet);
    for (const others of many) others.forEach((word, index) => (bits[index]! |= word));
    addAll(bits, few);
    return new CandidateSet(
      bits.reduce((sum, word) => sum + countBits(word), 0),
      { bits },
    );
  }

  /** All of them, in ascending order, where they are few. */
  get few(): readonly number[] | undefined {
    return 'few' in this.nodes ? this.nodes.few : undefined;
  }

  /** Equal for equal sets, and seldom for others. */
  get hash(): number {
    let hash = this.size;
    // FNV-1a, by words.
    for (const word of this.#words) hash = Math.imul(hash ^ word, 0x01000193);
    return hash;
  }

  equals(other: CandidateSet): boolean {
    const [a, b] = [this.#words, other.#words];
    if (this.size !== other.size || a.length !== b.length) return false;
    for (let index = 0; index < a.length; index++) if (a[index] !== b[index]) return false;
    return true;
  }

  /** Sets of one size are kept in one way. */
  get #words(): ArrayLike<number> & Iterable<number> {
    return 'few' in this.nodes ? this.nodes.few : this.nodes.bits;
  }

  hasRank(rank: number): boolean {
    if ('few' in this.nodes) return this.nodes.few.includes(rank);
    return (this.nodes.bits[rank >>> 5]! & (1 << (rank & 31))) !== 0;
  }

  /** Whether some node is in both. */
  meets(other: CandidateSet): boolean {
    const [a, b] = [this.nodes, other.nodes];
    if ('few' in a) return 'few' in b ? meet(a.few, b.few) : a.few.some((rank) => other.hasRank(rank));
    if ('few' in b) return other.meets(this);
    for (let word = 0; word < a.bits.length; word++) if ((a.bits[word]! & b.bits[word]!) !== 0) return true;
    return false;
  }

  /** How many of them are among those. */
  countIn(nodes: UnavailableNodes): number {
    if ('few' in this.nodes) return this.nodes.few.filter((rank) => nodes.hasRank(rank)).length;
    let count = 0;
    for (let word = 0; word < this.nodes.bits.length; word++) {
      count += countBits(this.nodes.bits[word]! & nodes.bits[word]!);
    }
    return count;
  }

  /** The ranks of those among them, most preferred first; at most so many. */
  firstIn(nodes: UnavailableNodes, limit: number): number[] {
    if ('few' in this.nodes) return this.nodes.few.filter((rank) => nodes.hasRank(rank)).slice(0, limit);
    const found: number[] = [];
    for (let word = 0; word < this.nodes.bits.length && found.length < limit; word++) {
      let both = this.nodes.bits[word]! & nodes.bits[word]!;
      for (; both !== 0 && found.length < limit; both &= both - 1) {
        found.push(32 * word + 31 - Math.clz32(both & -both));
      }
    }
    return found;
  }
}

function noBits(fleet: RankedFleet): Uint32Array {
  return new Uint32Array((fleet.adverts.length + 31) >>> 5);
}

function addAll(bits: Uint32Array, ranks: readonly number[]): void {
  for (const rank of ranks) bits[rank >>> 5]! |= 1 << (rank & 31);
}

function meet(a: readonly number[], b: readonly number[]): boolean {
  for (let i = 0, j = 0; i < a.length && j < b.length;) {
    if (a[i] === b[j]) return true;
    if (a[i]! < b[j]!) i++;
    else j++;
  }
  return false;
}

function countBits(word: number): number {
  let bits = word - ((word >>> 1) & 0x55555555);
  bits = (bits & 0x33333333) + ((bits >>> 2) & 0x33333333);
  return Math.imul((bits + (bits >>> 4)) & 0x0f0f0f0f, 0x01010101) >>> 24;
}

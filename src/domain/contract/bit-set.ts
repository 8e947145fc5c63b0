/** A set of step numbers. With 500 steps, 16 words: what would be quadratic in the size of a contract stays in the microseconds. */
export class BitSet {
  private readonly words: Uint32Array;

  constructor(size: number) {
    this.words = new Uint32Array(Math.ceil(size / 32));
  }

  add(bit: number): this {
    this.words[bit >>> 5]! |= 1 << (bit & 31);
    return this;
  }

  addAll(other: BitSet): this {
    for (let word = 0; word < this.words.length; word++) this.words[word]! |= other.words[word]!;
    return this;
  }

  has(bit: number): boolean {
    return (this.words[bit >>> 5]! & (1 << (bit & 31))) !== 0;
  }

  meets(other: BitSet): boolean {
    return this.words.some((word, index) => (word & other.words[index]!) !== 0);
  }

  /** Some member that `other` lacks. */
  missingIn(other: BitSet): number | undefined {
    for (let word = 0; word < this.words.length; word++) {
      const missing = this.words[word]! & ~other.words[word]!;
      if (missing !== 0) return word * 32 + 31 - Math.clz32(missing & -missing);
    }
    return undefined;
  }
}

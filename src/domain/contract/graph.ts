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

/** What the graph has to know of a step; `targets` are the steps it names as branches. */
export interface GraphStep {
  id: string | undefined;
  needs: readonly string[] | undefined;
  targets: readonly string[];
}

/**
 * The steps each step waits for, by number: the section "needs, written once for both creation paths" of the contract. A name that is
 * no earlier step is left out; in a valid contract there is none.
 */
export function normalisedNeeds(steps: readonly GraphStep[]): number[][] {
  const numbers = new Map<string, number>();
  const branchers = new Map<string, number>();

  return steps.map((step, seq) => {
    const needs =
      step.needs?.map((id) => numbers.get(id)).filter((need) => need !== undefined) ??
      impliedNeeds(step, seq, branchers);
    if (step.id !== undefined && !numbers.has(step.id)) numbers.set(step.id, seq);
    for (const target of step.targets) {
      if (!branchers.has(target)) branchers.set(target, seq);
    }
    return needs;
  });
}

function impliedNeeds(step: GraphStep, seq: number, branchers: ReadonlyMap<string, number>): number[] {
  const brancher = step.id === undefined ? undefined : branchers.get(step.id);
  if (brancher !== undefined) return [brancher];
  return seq === 0 ? [] : [seq - 1];
}

/** All that must have ended before a step may start. Every need is earlier, so one pass in order finds them. */
export function ancestors(needs: readonly (readonly number[])[]): BitSet[] {
  const sets: BitSet[] = [];
  for (const own of needs) {
    const set = new BitSet(needs.length);
    for (const need of own) set.add(need).addAll(sets[need]!);
    sets.push(set);
  }
  return sets;
}

/** Steps skipped when these are: the skip spreads to every step all of whose needs are skipped. */
export function skippedWith(skipped: readonly number[], needs: readonly (readonly number[])[]): BitSet {
  const set = new BitSet(needs.length);
  for (const seq of skipped) set.add(seq);
  for (let seq = Math.min(...skipped) + 1; seq < needs.length; seq++) {
    const own = needs[seq]!;
    if (own.length > 0 && own.every((need) => set.has(need))) set.add(seq);
  }
  return set;
}

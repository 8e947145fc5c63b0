import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { BitSet } from './bit-set.js';

const numbers = fc.array(fc.nat({ max: 499 }));
const setOf = (members: number[]): BitSet => members.reduce((set, member) => set.add(member), new BitSet(500));

describe('BitSet', () => {
  it('agrees with Set', () => {
    fc.assert(
      fc.property(numbers, numbers, (one, other) => {
        const missing = one.filter((member) => !other.includes(member));
        const expected = missing.length === 0 ? undefined : Math.min(...missing);
        expect(setOf(one).missingIn(setOf(other))).toBe(expected);
        expect(setOf(one).meets(setOf(other))).toBe(one.some((member) => other.includes(member)));
        const union = setOf(one).addAll(setOf(other));
        const bits = Array.from({ length: 500 }, (_, bit) => bit);
        expect(bits.filter((bit) => union.has(bit))).toEqual(bits.filter((bit) => [...one, ...other].includes(bit)));
      }),
    );
  });
});

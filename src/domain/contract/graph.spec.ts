import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { ancestors, BitSet, skippedWith } from './graph.js';

const graphs = fc
  .array(fc.array(fc.nat(), { maxLength: 4 }), { minLength: 2, maxLength: 80 })
  .map((sketch) => sketch.map((needs, seq) => (seq === 0 ? [] : [...new Set(needs.map((need) => need % seq))])));

const membersOf = (set: { has(bit: number): boolean }, size: number): number[] =>
  Array.from({ length: size }, (_, bit) => bit).filter((bit) => set.has(bit));

describe('ancestors', () => {
  it('are what a walk upwards finds', () => {
    fc.assert(
      fc.property(graphs, (needs) => {
        const walk = (seq: number): number[] => needs[seq]!.flatMap((need) => [need, ...walk(need)]);
        const last = Math.min(needs.length - 1, 12);
        const found = [...new Set(walk(last))].sort((a, b) => a - b);
        expect(membersOf(ancestors(needs)[last]!, needs.length)).toEqual(found);
      }),
    );
  });
});

describe('skippedWith', () => {
  it('spreads to a step all of whose needs are skipped, and to no other', () => {
    const needs = [[], [0], [0], [1], [1, 2], [3], []];
    expect(membersOf(skippedWith([1], needs), 7)).toEqual([1, 3, 5]);
    expect(membersOf(skippedWith([2, 1], needs), 7)).toEqual([1, 2, 3, 4, 5]);
  });
});

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

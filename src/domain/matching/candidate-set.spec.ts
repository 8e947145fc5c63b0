import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { CandidateSet } from './candidate-set.js';
import { RankedFleet } from './ranked-fleet.js';
import { TakenNodes } from './taken-nodes.js';

const FLEET = RankedFleet.of(
  Array.from({ length: 300 }, (_, index) => ({
    node_id: `n${String(index).padStart(3, '0')}`,
    label: '',
    capabilities: [],
    offer_rev: 1,
  })),
);
const some = fc.uniqueArray(fc.nat(299), { maxLength: 6 });
const many = fc
  .tuple(fc.integer({ min: 70, max: 200 }), fc.nat(99))
  .map(([count, from]) => Array.from({ length: count }, (_, index) => from + index));
const ranks = fc.oneof(some, many, fc.constant([])).map((list) => [...list].sort((a, b) => a - b));

describe('a set of candidates', () => {
  it('is what the list of its ranks is, of few as of many', () => {
    fc.assert(
      fc.property(ranks, ranks, fc.nat(9), (one, other, limit) => {
        const [a, b] = [CandidateSet.of(one, FLEET), CandidateSet.of(other, FLEET)];
        const both = one.filter((rank) => other.includes(rank));
        const nodes = TakenNodes.of(FLEET, new Set(other.map((rank) => FLEET.at(rank).node_id)));
        expect(a.size).toBe(one.length);
        expect(FLEET.adverts.flatMap((_, rank) => (a.hasRank(rank) ? [rank] : []))).toEqual(one);
        expect([a.meets(b), b.meets(a)]).toEqual([both.length > 0, both.length > 0]);
        expect(a.countIn(nodes)).toBe(both.length);
        expect(a.firstIn(nodes, limit)).toEqual(both.slice(0, limit));
        const union = CandidateSet.union([a, b], FLEET);
        expect(union.size).toBe(new Set([...one, ...other]).size);
        expect(union.firstIn(nodes, 300)).toEqual(other);
      }),
    );
  });
});

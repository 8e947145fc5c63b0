import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { CandidateSet } from './candidate-set.js';
import { CandidateSets } from './candidate-sets.js';
import { RankedFleet } from './ranked-fleet.js';
import { UnavailableNodes } from './fleet-use.js';
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
        const nodes = UnavailableNodes.of(FLEET, new Set(other.map((rank) => FLEET.at(rank).node_id)));
        expect(a.size).toBe(one.length);
        expect(FLEET.adverts.flatMap((_, rank) => (a.hasRank(rank) ? [rank] : []))).toEqual(one);
        expect([a.meets(b), b.meets(a)]).toEqual([both.length > 0, both.length > 0]);
        expect(a.countIn(nodes)).toBe(both.length);
        expect(a.firstIn(nodes, limit)).toEqual(both.slice(0, limit));
        const same = one.join() === other.join();
        expect([a.equals(b), b.equals(a), a.equals(CandidateSet.of(one, FLEET))]).toEqual([same, same, true]);
        expect(a.hash).toBe(CandidateSet.of(one, FLEET).hash);
        const union = CandidateSet.union([a, b], FLEET);
        expect(union.size).toBe(new Set([...one, ...other]).size);
        expect(union.firstIn(nodes, 300)).toEqual(other);
      }),
    );
  });

  it('is kept once, however its nodes are asked for', () => {
    const offer = { capability: 'board', attrs: { soc: 'bcm', rev: '2' } };
    const nodes = Array.from({ length: 80 }, (_, i) => ({
      node_id: `n${i}`,
      label: '',
      offer_rev: 1,
      capabilities: [offer],
    }));
    const sets = CandidateSets.in(RankedFleet.of(nodes));
    const all = sets.of({ as: 'a', capability: 'board' });
    expect(all.size).toBe(80);
    expect(sets.of({ as: 'b', capability: 'board', attrs: { soc: 'bcm' } })).toBe(all);
    expect(
      sets.ofAny([
        { as: 'c', capability: 'board', attrs: { rev: '2' } },
        { as: 'd', capability: 'board' },
      ]),
    ).toBe(all);
    expect(sets.of({ as: 'e', capability: 'board', attrs: { soc: 'other' } })).not.toBe(all);
  });
});

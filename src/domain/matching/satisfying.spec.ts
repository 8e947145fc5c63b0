import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import type { Requirement } from '../contract/contract.js';
import { candidates } from './candidates.js';
import type { CapabilityEntry } from './fleet.js';
import { RankedFleet } from './ranked-fleet.js';
import { type OfferBits, satisfying } from './satisfying.js';

const attrs = (most: number) =>
  fc.dictionary(fc.constantFrom('x', 'y', 'z'), fc.constantFrom('a', 'b'), { maxKeys: most });
const entry: fc.Arbitrary<CapabilityEntry> = fc.record({
  capability: fc.constantFrom('board', 'host'),
  attrs: attrs(3),
});
const fleets = fc
  .array(fc.array(entry, { maxLength: 3 }), { maxLength: 90, size: 'max' })
  .map((offers) =>
    RankedFleet.of(offers.map((capabilities, n) => ({ node_id: `n${n}`, label: '', capabilities, offer_rev: 1 }))),
  );
const wanted: fc.Arbitrary<Requirement> = fc.record({
  as: fc.constant('r'),
  capability: fc.constantFrom('board', 'board', 'host', 'none'),
  attrs: fc.oneof({ weight: 9, arbitrary: attrs(2) }, { weight: 1, arbitrary: fc.constant({ node_id: 'n3', x: 'a' }) }),
});

describe('the nodes that satisfy a requirement', () => {
  it('are the candidates, whichever way they are found, one after the other on one fleet', () => {
    fc.assert(
      fc.property(fleets, fc.array(wanted, { minLength: 1, maxLength: 6 }), (fleet, requirements) => {
        const known: OfferBits = new Map();
        for (const one of requirements) expect(satisfying(one, fleet, known)).toEqual(candidates(one, fleet));
      }),
      { numRuns: 500 },
    );
  });

  it('are found where what they share is rare', () => {
    const fleet = RankedFleet.of(
      Array.from({ length: 200 }, (_, n) => ({
        node_id: `n${n}`,
        label: '',
        capabilities: [{ capability: 'board', attrs: { serial: String(n), x: 'a' } }],
        offer_rev: 1,
      })),
    );
    const known: OfferBits = new Map();
    const one: Requirement = { as: 'r', capability: 'board', attrs: { serial: '7', x: 'a' } };
    expect(satisfying(one, fleet, known).map((rank) => fleet.at(rank).node_id)).toEqual(['n7']);
    // No bits are kept for each of 200 serial numbers.
    expect(known.size).toBe(0);
  });
});

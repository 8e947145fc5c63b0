import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import type { Requirement } from '../contract/contract.js';
import { allCandidates, candidates, type OfferBits } from './candidates.js';
import { type Advert, byNodeId, type CapabilityEntry } from './fleet.js';
import { RankedFleet } from './ranked-fleet.js';
import { satisfies } from './satisfies.js';

const node = (node_id: string, ...attrs: Record<string, string>[]): Advert => ({
  node_id,
  label: node_id,
  offer_rev: 1,
  capabilities: attrs.map((one) => ({ capability: 'x', attrs: one })),
});
const ids = (fleet: RankedFleet, ranks: number[]): string[] => ranks.map((rank) => fleet.at(rank).node_id);
const x = { as: 'r', capability: 'x' };

describe('candidates', () => {
  it('come least special first, summed over the entries, then by node_id', () => {
    const fleet = RankedFleet.of([
      node('d', { a: '1' }, { b: '1' }),
      node('c', { a: '1' }),
      node('b', {}),
      node('B', {}),
    ]);
    expect(ids(fleet, candidates(x, fleet))).toEqual(['B', 'b', 'c', 'd']);
  });

  it('name a node once however many of its entries fit', () => {
    const fleet = RankedFleet.of([node('a', { k: '1' }, { k: '1', l: '1' }, {})]);
    expect(candidates(x, fleet)).toHaveLength(1);
    expect(candidates({ ...x, attrs: { k: '1' } }, fleet)).toHaveLength(1);
  });

  it('end at the limit, counted without the unavailable', () => {
    const fleet = RankedFleet.of(['a', 'b', 'c', 'd'].map((id) => node(id, {})));
    expect(ids(fleet, candidates(x, fleet, 2, new Set(['a', 'c'])))).toEqual(['b', 'd']);
  });

  it('do not rank a ranked fleet again', () => {
    const fleet = RankedFleet.of([node('a', {})]);
    expect(RankedFleet.of(fleet)).toBe(fleet);
  });

  const key = fc.constantFrom('a', 'b', 'constructor', '__proto__');
  const attrs = fc
    .array(fc.tuple(key, fc.constantFrom('1', '2')), { maxLength: 3 })
    .map(
      (pairs) =>
        JSON.parse(`{${[...new Map(pairs)].map(([k, v]) => `"${k}":"${v}"`).join()}}`) as Record<string, string>,
    );
  const name = fc.constantFrom('n1', 'n2', 'n3', 'N4', 'n-5');
  const entry = fc.record({ capability: fc.constantFrom('x', 'y'), attrs });
  const fleets = fc.uniqueArray(
    fc.record({ node_id: name, label: name, offer_rev: fc.nat(), capabilities: fc.array(entry, { maxLength: 3 }) }),
    { selector: (advert) => advert.node_id },
  );
  const requirement = fc
    .tuple(fc.constantFrom('x', 'y', 'z'), attrs, fc.option(name, { nil: undefined }))
    .map(([capability, asked, named]) => ({
      as: 'r',
      capability,
      attrs: named === undefined ? asked : { ...asked, node_id: named },
    }));

  it('are the adverts that satisfy, in the order of preference, whatever index was used', () => {
    const special = (advert: Advert): number =>
      advert.capabilities.reduce((sum, one) => sum + Object.keys(one.attrs ?? {}).length, 0);
    fc.assert(
      fc.property(fleets, requirement, (adverts, wanted) => {
        const fleet = RankedFleet.of(adverts);
        const expected = adverts
          .filter((advert) => satisfies(wanted, advert))
          .sort((a, b) => special(a) - special(b) || byNodeId(a, b));
        expect(ids(fleet, candidates(wanted, fleet))).toEqual(expected.map((advert) => advert.node_id));
      }),
      { numRuns: 500 },
    );
  });
});

describe('all candidates', () => {
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
    attrs: fc.oneof(
      { weight: 9, arbitrary: attrs(2) },
      { weight: 1, arbitrary: fc.constant({ node_id: 'n3', x: 'a' }) },
    ),
  });

  it('are the same, whichever way they are found, one after the other on one fleet', () => {
    fc.assert(
      fc.property(fleets, fc.array(wanted, { minLength: 1, maxLength: 6 }), (fleet, requirements) => {
        const known: OfferBits = new Map();
        for (const one of requirements) expect(allCandidates(one, fleet, known)).toEqual(candidates(one, fleet));
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
    expect(allCandidates(one, fleet, known).map((rank) => fleet.at(rank).node_id)).toEqual(['n7']);
    // No bits are kept for each of 200 serial numbers.
    expect(known.size).toBe(0);
  });
});

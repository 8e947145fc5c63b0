import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import type { Requirement } from '../contract/contract.js';
import type { Advert } from './fleet.js';
import { fleets, matchIsNaiveMatch, requirements, unavailableNodes } from './judged-match.fixture.js';
import { match } from './match.js';
import { RankedFleet } from './ranked-fleet.js';
import { satisfies } from './satisfies.js';

const RUNS = { numRuns: 400 };
const CASES = 3000;

describe('match, for any fleet', () => {
  it('gives what trying every assignment gives: the first complete one, or why there is none', () => {
    let matched = 0;
    fc.assert(
      matchIsNaiveMatch(() => (matched += 1)),
      { numRuns: CASES, seed: 1 },
    );
    // The cases are none in which there is nothing to do.
    expect(matched).toBeGreaterThan(CASES / 10);
  });

  it('the order of the adverts changes nothing, nor does asking again, nor ranking them before', () => {
    fc.assert(
      fc.property(
        requirements,
        fc.boolean(),
        fleets,
        unavailableNodes,
        fc.infiniteStream(fc.nat()),
        (requires, spread, adverts, un, keys) => {
          const ranked = RankedFleet.of(adverts);
          const expected = match(requires, spread, adverts, un);
          const shuffled = adverts
            .map((advert) => ({ advert, key: keys.next().value as number }))
            .sort((a, b) => a.key - b.key)
            .map(({ advert }) => advert);
          expect(match(requires, spread, shuffled, un)).toEqual(expected);
          expect(match(requires, spread, ranked, un)).toEqual(expected);
          expect(match(requires, spread, ranked, un)).toEqual(expected);
        },
      ),
      RUNS,
    );
  });

  it('what it assigns satisfies, is available, is distinct within a role, within the run where spread, and is what it leases', () => {
    fc.assert(
      fc.property(requirements, fc.boolean(), fleets, unavailableNodes, (requires, spread, adverts, unavailable) => {
        const result = match(requires, spread, adverts, unavailable);
        fc.pre(result.kind === 'matched');
        if (result.kind !== 'matched') return;
        const all = result.assigned.flatMap(({ nodes }) => nodes.map((one) => one.node_id));
        for (const [i, { as, nodes }] of result.assigned.entries()) {
          expect(as).toBe(requires[i]?.as);
          expect(new Set(nodes.map((one) => one.node_id)).size).toBe(requires[i]?.count ?? 1);
          for (const { node_id } of nodes) {
            const advert = adverts.find((one) => one.node_id === node_id) as Advert;
            expect(satisfies(requires[i] as Requirement, advert)).toBe(true);
          }
        }
        expect(all.filter((node) => unavailable.has(node))).toEqual([]);
        if (spread) expect(new Set(all).size).toBe(all.length);
        expect(result.nodes.map((one) => one.node_id)).toEqual([...new Set(all)].sort());
        const leased = result.nodes.flatMap(({ node_id, roles }) => roles.map((as) => `${as} ${node_id}`)).sort();
        expect(leased).toEqual(
          result.assigned.flatMap(({ as, nodes }) => nodes.map((one) => `${as} ${one.node_id}`)).sort(),
        );
      }),
      RUNS,
    );
  });

  it('more unavailable nodes never make a match, and never a fault that lasts', () => {
    fc.assert(
      fc.property(
        requirements,
        fc.boolean(),
        fleets,
        unavailableNodes,
        unavailableNodes,
        (requires, spread, adverts, some, others) => {
          const fewer = match(requires, spread, adverts, some);
          const more = match(requires, spread, adverts, new Set([...some, ...others]));
          if (fewer.kind === 'matched') expect(more.kind).not.toBe('unsatisfiable');
          else expect(more.kind).toBe(fewer.kind);
          const none = match(requires, spread, adverts, new Set());
          expect(more.kind === 'unsatisfiable').toBe(none.kind !== 'matched');
        },
      ),
      RUNS,
    );
  });

  it('the roles it calls short need more nodes than are free for them', () => {
    fc.assert(
      fc.property(requirements, fc.boolean(), fleets, unavailableNodes, (requires, spread, adverts, unavailable) => {
        const result = match(requires, spread, adverts, unavailable);
        fc.pre(result.kind === 'busy');
        if (result.kind !== 'busy') return;
        const short = requires.filter((one) => result.competing.includes(one.as));
        const free = adverts.filter(
          (advert) => !unavailable.has(advert.node_id) && short.some((one) => satisfies(one, advert)),
        );
        expect(result.competing).toContain(result.as);
        expect(free.length).toBeLessThan(short.reduce((sum, one) => sum + (one.count ?? 1), 0));
      }),
      RUNS,
    );
  });
});

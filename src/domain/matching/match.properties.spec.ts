import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import type { Requirement } from '../contract/contract.js';
import type { Advert } from './fleet.js';
import { match, type MatchResult } from './match.js';
import { RankedFleet } from './ranked-fleet.js';
import { satisfies } from './satisfies.js';

const NAMES = ['a', 'b', 'c', 'd', 'e', 'f', 'g'];
const capability = fc.constantFrom('x', 'y', 'z');
const attrs = fc.record({ k: fc.constantFrom('1', '2'), l: fc.constant('1') }, { requiredKeys: [] });
const entry = fc.record({ capability, attrs });
const fleets = fc.array(fc.array(entry, { minLength: 1, maxLength: 3 }), { maxLength: 7 }).chain((offers) =>
  fc.shuffledSubarray(NAMES, { minLength: offers.length, maxLength: offers.length }).map((names) =>
    offers.map((capabilities, i): Advert => {
      const node_id = names[i] as string;
      return { node_id, label: node_id, offer_rev: 1, capabilities };
    }),
  ),
);
const requirement = fc.record({
  capability,
  attrs: fc.oneof({ weight: 3, arbitrary: fc.constant({}) }, { weight: 1, arbitrary: attrs }),
  count: fc.constantFrom(undefined, 1, 1, 2, 3),
});
const contracts = fc
  .array(requirement, { minLength: 1, maxLength: 4 })
  .map((list): Requirement[] => list.map((one, i) => ({ as: `r${i}`, ...one })));
const sets = fc.subarray(NAMES).map((names) => new Set(names));
const RUNS = { numRuns: 400 };

function found(result: MatchResult): string[][] | string {
  return result.kind === 'matched' ? result.assigned.map(({ nodes }) => nodes.map((one) => one.node_id)) : result.kind;
}

/** Every choice in order, the first complete one: nothing clever. `order` is by preference. */
function bruteForce(requires: Requirement[], order: Advert[], used: Set<Advert> = new Set()): string[][] | undefined {
  const [first, ...rest] = requires;
  if (first === undefined) return [];
  const usable = order.filter((advert) => !used.has(advert) && satisfies(first, advert));
  for (const chosen of combinations(usable, first.count ?? 1)) {
    const others = bruteForce(rest, order, new Set([...used, ...chosen]));
    if (others !== undefined) return [chosen.map((advert) => advert.node_id), ...others];
  }
  return undefined;
}

function* combinations<T>(from: T[], size: number): Generator<T[]> {
  if (size === 0) yield [];
  else
    for (const [i, one] of from.entries()) {
      for (const others of combinations(from.slice(i + 1), size - 1)) yield [one, ...others];
    }
}

describe('match, for any fleet', () => {
  it('spread: the lexicographically first complete assignment, found whenever one exists', () => {
    fc.assert(
      fc.property(contracts, fleets, sets, (requires, adverts, unavailable) => {
        const order = RankedFleet.of(adverts).adverts;
        const free = order.filter((advert) => !unavailable.has(advert.node_id));
        const expected =
          bruteForce(requires, free) ?? (bruteForce(requires, [...order]) === undefined ? 'unsatisfiable' : 'busy');
        expect(found(match(requires, true, adverts, unavailable))).toEqual(expected);
      }),
      { numRuns: 1000 },
    );
  });

  it('not spread: each role its first nodes, unsatisfiable exactly where some role lacks live ones', () => {
    fc.assert(
      fc.property(contracts, fleets, sets, (requires, adverts, unavailable) => {
        const order = RankedFleet.of(adverts).adverts;
        const free = order.filter((advert) => !unavailable.has(advert.node_id));
        const first = (of: readonly Advert[]) =>
          requires.map((one) => of.filter((advert) => satisfies(one, advert)).slice(0, one.count ?? 1));
        const whole = (lists: Advert[][]) => lists.every((list, i) => list.length === (requires[i]?.count ?? 1));
        const expected = whole(first(free))
          ? first(free).map((list) => list.map((advert) => advert.node_id))
          : whole(first(order))
            ? 'busy'
            : 'unsatisfiable';
        expect(found(match(requires, false, adverts, unavailable))).toEqual(expected);
      }),
      RUNS,
    );
  });

  it('the order of the adverts changes nothing, nor does asking again, nor ranking them before', () => {
    fc.assert(
      fc.property(
        contracts,
        fc.boolean(),
        fleets,
        sets,
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
      fc.property(contracts, fc.boolean(), fleets, sets, (requires, spread, adverts, unavailable) => {
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
      fc.property(contracts, fc.boolean(), fleets, sets, sets, (requires, spread, adverts, some, others) => {
        const fewer = match(requires, spread, adverts, some);
        const more = match(requires, spread, adverts, new Set([...some, ...others]));
        if (fewer.kind === 'matched') expect(more.kind).not.toBe('unsatisfiable');
        else expect(more.kind).toBe(fewer.kind);
        const none = match(requires, spread, adverts, new Set());
        expect(more.kind === 'unsatisfiable').toBe(none.kind !== 'matched');
      }),
      RUNS,
    );
  });

  it('the roles it calls short need more nodes than are free for them', () => {
    fc.assert(
      fc.property(contracts, fc.boolean(), fleets, sets, (requires, spread, adverts, unavailable) => {
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

import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import type { Requirement } from '../contract/contract.js';
import { fewestToLift } from './fewest-to-lift.js';
import { FleetUse, type Unavailability } from './fleet-use.js';
import type { Advert } from './fleet.js';
import { match } from './match.js';
import { RankedFleet } from './ranked-fleet.js';

const node = (node_id: string, offered: readonly string[]): Advert => ({
  node_id,
  label: node_id,
  offer_rev: 1,
  capabilities: offered.map((capability) => ({ capability })),
});

const WORDS = ['x', 'y', 'z'];
const fleets = fc.array(
  fc.record({
    offered: fc.subarray(WORDS, { minLength: 1 }),
    use: fc.constantFrom<Unavailability | undefined>('draining', 'draining', 'held', 'busy', 'revived', undefined),
  }),
  { minLength: 1, maxLength: 7 },
);
const contracts = fc.array(
  fc.record({
    capability: fc.constantFrom(...WORDS),
    count: fc.constantFrom(undefined, undefined, 1, 2, 3),
    named: fc.constantFrom(...Array<undefined>(12).fill(undefined), 0, 1, 2),
  }),
  { minLength: 1, maxLength: 4 },
);

/** Every subset, the smallest first. */
function subsetsOf(all: readonly string[]): string[][] {
  const subsets = Array.from({ length: 2 ** all.length }, (_, bits) => all.filter((_one, at) => (bits >> at) & 1));
  return subsets.sort((a, b) => a.length - b.length);
}

describe('which draining and held nodes a run waits for', () => {
  it('each of them matters, all together do, and there are never more than it takes', () => {
    let lifted = 0;
    const property = fc.property(contracts, fc.boolean(), fleets, (wanted, spread, drawn) => {
      const adverts = drawn.map(({ offered }, n) => node(`n${n}`, offered));
      const useOf = (nodeId: string): Unavailability | undefined => drawn[Number(nodeId.slice(1))]!.use;
      const requires = wanted.map(({ capability, count, named }, n): Requirement => {
        const attrs = named === undefined ? {} : { attrs: { node_id: `n${named}` } };
        return { as: `r${n}`, capability, ...(count !== undefined && { count }), ...attrs };
      });
      const fits = (free: readonly string[]): boolean => {
        const taken = new Set(adverts.map(({ node_id }) => node_id).filter((id) => useOf(id) && !free.includes(id)));
        return match(requires, spread, adverts, taken).kind === 'matched';
      };
      const use = FleetUse.of(RankedFleet.of(adverts), useOf);
      const ids = adverts.map(({ node_id }) => node_id);
      const withdrawn = ids.filter((id) => ['draining', 'held'].includes(useOf(id) ?? ''));
      const found = fewestToLift(requires, spread, use)?.map((rank) => use.fleet.at(rank).node_id);
      const smallest = subsetsOf(withdrawn).find(fits);

      expect(found === undefined).toBe(smallest === undefined);
      if (found === undefined || smallest === undefined) return;
      expect(new Set(found).size).toBe(found.length);
      expect(withdrawn).toEqual(expect.arrayContaining(found));
      expect(fits(found)).toBe(true);
      for (const one of found) expect(fits(found.filter((other) => other !== one))).toBe(false);
      expect(found.length).toBeLessThanOrEqual(spread ? smallest.length : withdrawn.length);
      if (found.length > 0) lifted += 1;
    });
    fc.assert(property, { numRuns: 1000 });
    expect(lifted).toBeGreaterThan(200);
  });

  it.each([false, true])('of 10,000 that drain, for 64 roles (spread: %s), it says so at once', (spread) => {
    const adverts = Array.from({ length: 10_000 }, (_, n) => node(`n${n}`, [`k${n % 64}`, `l${n % 7}`]));
    const use = FleetUse.of(RankedFleet.of(adverts), () => 'draining');
    const requires = Array.from({ length: 64 }, (_, n): Requirement => ({
      as: `r${n}`,
      capability: `k${n}`,
      count: 60,
    }));
    fewestToLift(requires, spread, use);
    const since = performance.now();
    const found = fewestToLift(requires, spread, use);
    const took = performance.now() - since;
    expect(found).toHaveLength(64 * 60);
    // Measured: 20 ms each way; a busy machine is slow.
    expect(took).toBeLessThan(1000);
  });
});

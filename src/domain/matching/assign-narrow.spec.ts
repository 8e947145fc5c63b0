import { describe, expect, it } from '@jest/globals';
import type { Requirement } from '../contract/contract.js';
import { assignNarrow, leastWidth, widthOf } from './assign-narrow.js';
import { RankedFleet } from './ranked-fleet.js';
import { quickest } from '../quickest.fixture.js';

const role = (as: string, count?: number): Requirement => ({ as, capability: as, ...(count && { count }) });

describe('the second look at a run that is too wide', () => {
  it('takes the nodes that serve most roles, and of those the preferred ones', () => {
    const offers = ['x', 'y', 'xy', 'z', 'xyz', 'yz'];
    const fleet = RankedFleet.of(
      offers.map((offer) => ({
        node_id: offer,
        label: offer,
        offer_rev: 1,
        capabilities: [...offer].map((capability) => ({ capability })),
      })),
    );
    const names = (ranks: number[][]): string[][] => ranks.map((role) => role.map((rank) => fleet.at(rank).node_id));
    const requires = [role('x'), role('y', 2), role('z')];
    const narrow = assignNarrow(requires, fleet);
    expect([names(narrow), widthOf(narrow)]).toEqual([[['xyz'], ['xyz', 'xy'], ['xyz']], 2]);
    expect(names(assignNarrow(requires, fleet, new Set(['xyz'])))).toEqual([['xy'], ['xy', 'yz'], ['yz']]);
  });

  it.each([
    [[role('a'), role('b', 3), role('c', 2)], false, 3],
    [[role('a'), role('b', 3), role('c', 2)], true, 6],
  ])('a run takes at least: %j, spread %s: %i', (requires, spread, least) => {
    expect(leastWidth(requires, spread)).toBe(least);
  });

  it('takes less than 100 ms of the event loop on 10,000 nodes that each serve all of 64 roles', () => {
    const capabilities = [{ capability: 'board' }];
    const adverts = Array.from({ length: 10_000 }, (_, at) => {
      const node_id = `n${at}`;
      return { node_id, label: node_id, offer_rev: 1, capabilities };
    });
    const fleet = RankedFleet.of(adverts);
    const requires = Array.from({ length: 64 }, (_, at) => ({ as: `r${at}`, capability: 'board', count: 64 }));
    expect(quickest(() => assignNarrow(requires, fleet))).toBeLessThan(100);
  });
});

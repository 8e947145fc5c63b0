import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import type { Requirement } from '../contract/contract.js';
import type { Advert } from '../matching/fleet.js';
import { satisfies } from '../matching/satisfies.js';
import { aheadOf, type Older } from './ahead-of.js';

const node = (node_id: string, ...offered: string[]): Advert => ({
  node_id,
  label: node_id,
  offer_rev: 1,
  capabilities: offered.map((capability) => ({ capability })),
});
const wants = (...capabilities: string[]): Requirement[] =>
  capabilities.map((capability, i) => ({ as: `r${i}`, capability }));
const older = (...capabilities: string[]): Older => ({
  signature: capabilities.join(),
  requires: wants(...capabilities),
});

describe('aheadOf', () => {
  const fleet = [node('n1', 'x', 'y'), node('n2', 'z')];

  it('counts the older runs that could take a node this one could take', () => {
    expect(aheadOf(wants('x'), [older('x'), older('y'), older('z'), older('z', 'y'), older('x')], fleet)).toBe(4);
  });

  it('counts nobody where no live node fits', () => {
    expect(aheadOf(wants('w'), [older('w'), older('x')], fleet)).toBe(0);
    expect(aheadOf(wants('x'), [older('x')], [])).toBe(0);
  });

  it('tells the nodes of a large fleet apart', () => {
    const large = Array.from({ length: 100 }, (_, i) => node(`n${i}`, `only${i}`));
    const queue = large.map((_, i) => older(`only${i}`));
    expect(large.map((_, i) => aheadOf(wants(`only${i}`), queue, large))).toEqual(large.map(() => 1));
  });

  it('takes a count for runs that require the same', () => {
    expect(
      aheadOf(
        wants('x'),
        [
          { ...older('y'), count: 500 },
          { ...older('z'), count: 9 },
        ],
        fleet,
      ),
    ).toBe(500);
  });

  it('counts what comparing every pair over every node counts, with one memo for all', () => {
    const contract = fc.subarray(['w', 'x', 'y', 'z'], { minLength: 1, maxLength: 2 });
    const fleets = fc
      .array(fc.subarray(['x', 'y', 'z']), { maxLength: 70 })
      .map((offers) => offers.map((offered, i) => node(`n${i}`, ...offered)));
    fc.assert(
      fc.property(fc.array(contract, { maxLength: 8 }), fleets, (queue, adverts) => {
        const memo = new Map();
        const fits = (requires: Requirement[], advert: Advert) => requires.some((one) => satisfies(one, advert));
        for (const [i, mine] of queue.entries()) {
          const before = queue.slice(0, i).map((one) => older(...one));
          const expected = before.filter((one) =>
            adverts.some((advert) => fits(wants(...mine), advert) && fits([...one.requires], advert)),
          ).length;
          expect(aheadOf(wants(...mine), before, adverts, memo)).toBe(expected);
        }
      }),
    );
  });
});

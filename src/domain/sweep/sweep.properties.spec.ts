import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import type { Requirement } from '../contract/contract.js';
import type { Advert } from '../matching/fleet.js';
import { PlayedSweep, sweepIsNaiveSweep, sweepPassesOver, sweepSurvivesFailedBundles } from './judged-sweep.fixture.js';
import type { WaitingRun } from './naive-sweep.fixture.js';

const CASES = 2000;

const node = (node_id: string): Advert => ({
  node_id,
  label: node_id,
  capabilities: [{ capability: 'board', attrs: { x: 'a' } }],
  offer_rev: 1,
});
const boards = (x: string, count = 1): Requirement[] => [{ as: 'r', capability: 'board', attrs: { x }, count }];
const run = (index: number, requires = boards('a'), serverSteps = false): WaitingRun => ({
  run_id: `run${index}`,
  requires,
  spread: false,
  serverSteps,
});

describe('a sweep by groups, its promotions in bundles', () => {
  it('promotes what looking at every run promotes: the same runs, onto the same nodes, in the same order', () => {
    let promotions = 0;
    fc.assert(
      sweepIsNaiveSweep((promoted) => (promotions += promoted)),
      { numRuns: CASES, seed: 1 },
    );
    // The cases are none in which there is nothing to do.
    expect(promotions).toBeGreaterThan(CASES);
  });

  it('passes over a run whose promotion fails, and one that has left since the pass began', () => {
    fc.assert(sweepPassesOver('fails'), { numRuns: CASES / 4, seed: 1 });
    fc.assert(sweepPassesOver('leaves'), { numRuns: CASES / 4, seed: 1 });
  });

  it('gives up a bundle in which a promotion fails, and promotes run by run in the next pass', () => {
    fc.assert(sweepSurvivesFailedBundles(), { numRuns: CASES / 4, seed: 1 });
  });

  it('looks at one run of each group that there is no room for, however many there are', () => {
    const queue = Array.from({ length: 1000 }, (_, index) =>
      run(index, index === 990 ? boards('a') : index % 2 ? boards('a', 2) : boards('b')),
    );
    const sweep = new PlayedSweep({ queue, adverts: [node('n0')], unavailable: new Set(), cap: 0 });
    expect(sweep.pass(64)).toBe('complete');
    expect(sweep.promoted).toEqual([{ run_id: 'run990', nodes: ['n0'] }]);
    expect(sweep.looked).toBe(2);
  });

  it.each([
    { most: 64, what: 'the first by itself, then twice as many at a time as before', bundles: [1, 2, 4, 8, 5] },
    { most: 4, what: 'never more than so many', bundles: [1, 2, 4, 4, 4, 4, 1] },
    { most: 1, what: 'one by one', bundles: Array.from({ length: 20 }, () => 1) },
  ])('bundles promotions: $what', ({ most, bundles }) => {
    const queue = Array.from({ length: 20 }, (_, index) => run(index));
    const adverts = Array.from({ length: 20 }, (_, index) => node(`n${index}`));
    const sweep = new PlayedSweep({ queue, adverts, unavailable: new Set(), cap: 0 });
    expect(sweep.pass(most)).toBe('complete');
    expect(sweep.bundles).toEqual(bundles);
  });

  it('promotes a run with steps of the server by itself, after those before it', () => {
    const queue = Array.from({ length: 12 }, (_, index) => run(index, boards('a'), index === 5));
    const adverts = Array.from({ length: 12 }, (_, index) => node(`n${index}`));
    const sweep = new PlayedSweep({ queue, adverts, unavailable: new Set(), cap: 0 });
    expect(sweep.pass(64)).toBe('complete');
    // One, two, two of four, the one, and four in their stead; two are left.
    expect(sweep.bundles).toEqual([1, 2, 2, 1, 4, 2]);
    expect(sweep.promoted.map(({ run_id }) => run_id)).toEqual(queue.map(({ run_id }) => run_id));
  });
});

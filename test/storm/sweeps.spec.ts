import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import type { Requirement } from '../../src/domain/contract/contract.js';
import { signatureOf } from '../../src/domain/contract/contract-identity.js';
import type { Advert } from '../../src/domain/matching/fleet.js';
import { RankedFleet } from '../../src/domain/matching/ranked-fleet.js';
import { UnavailableNodes } from '../../src/domain/matching/fleet-use.js';
import { type Promoted, sweepNaively, type WaitingRun } from '../../src/domain/sweep/naive-sweep.fixture.js';
import {
  type NextInGroup,
  type Outcome,
  sweepByGroups,
  type SweepCommand,
} from '../../src/domain/sweep/sweep-by-groups.js';
import { WaitingQueue } from '../../src/domain/sweep/waiting-queue.js';
import { tell, tries } from '../support/storm.js';

const CASES = tries(1000, 10_000);

const word = fc.constantFrom('a', 'a', 'b');
const attrs = fc.dictionary(fc.constantFrom('x', 'y'), word, { maxKeys: 2 });
const capability = fc.constantFrom('board', 'board', 'host');
const requirement = (as: string): fc.Arbitrary<Requirement> =>
  fc.oneof(
    {
      weight: 9,
      arbitrary: fc.record({ as: fc.constant(as), capability, count: fc.constantFrom(1, 1, 1, 2, 3), attrs }),
    },
    {
      weight: 1,
      arbitrary: fc
        .integer({ min: 0, max: 11 })
        .map((node) => ({ as, capability: 'board', attrs: { node_id: `n${node}` } })),
    },
  );
const needs = fc.record({
  requires: fc
    .constantFrom(1, 1, 1, 2, 3)
    .chain((roles) => fc.tuple(...Array.from({ length: roles }, (_, role) => requirement(`r${role}`)))),
  spread: fc.boolean(),
});
/** Few kinds of runs, many of each: so that lines are longer than one. */
const queue = fc
  .array(needs, { minLength: 1, maxLength: 6 })
  .chain((kinds) => fc.array(fc.constantFrom(...kinds), { maxLength: 40 }))
  .map((runs): WaitingRun[] => runs.map((run, index) => ({ run_id: `run${index}`, ...run })));
const adverts = fc
  .array(fc.array(fc.record({ capability, attrs }), { minLength: 1, maxLength: 2 }), { minLength: 4, maxLength: 16 })
  .map((offers): Advert[] =>
    offers.map((capabilities, index) => ({ node_id: `n${index}`, label: `n${index}`, capabilities, offer_rev: 1 })),
  );
const picked = (names: string): fc.Arbitrary<Set<string>> =>
  fc
    .array(fc.integer({ min: 0, max: 40 }), { maxLength: 8 })
    .map((which) => new Set(which.map((one) => `${names}${one}`)));

/** The queue as it is kept in memory; arrival times come in pairs, which the sequence tells apart. */
function queueOf(runs: readonly WaitingRun[]): WaitingQueue {
  const waiting = new WaitingQueue();
  for (const [index, { run_id, requires, spread }] of runs.entries()) {
    const needs = { signature: signatureOf(requires, spread), requires, spread };
    waiting.put({ run_id, arrived: index >>> 1, seq: index, serverSteps: true }, needs);
  }
  return waiting;
}

/** `leaves`: what has left the queue as soon as the sweep has its heads, as a look meanwhile would have it. */
function sweepByHeads(
  runs: readonly WaitingRun[],
  offers: readonly Advert[],
  unavailable: ReadonlySet<string>,
  cap: number,
  fails: ReadonlySet<string>,
  leaves: ReadonlySet<string> = new Set(),
): { promoted: Promoted[]; looked: number } {
  const waiting = queueOf(runs);
  const taken = UnavailableNodes.of(RankedFleet.of(offers), unavailable);
  const lines = waiting.oldestOfEachGroup(taken);
  for (const run of leaves) waiting.remove(run);
  const promoted: Promoted[] = [];
  let looked = lines.length;
  const nextOf: NextInGroup = (after) => {
    looked += 1;
    return waiting.nextInGroup(after);
  };
  const fulfil = (wish: SweepCommand): Outcome | undefined => {
    if (wish.kind === 'log too wide') return undefined;
    const { run_id } = wish.run;
    if (fails.has(run_id) || leaves.has(run_id)) return { kind: 'passed over' };
    const nodes = wish.onto.nodes.map((node) => node.node_id);
    promoted.push({ run_id, nodes });
    // A look may come at any time, and tells what has been promoted.
    waiting.remove(run_id);
    return { kind: 'promoted', holds: nodes };
  };
  const sweep = sweepByGroups(lines, nextOf, taken, cap);
  for (let step = sweep.next(); !step.done;) step = sweep.next(fulfil(step.value));
  return { promoted, looked };
}

describe('a sweep of heads', () => {
  it(`promotes what looking at every run promotes: the same runs, onto the same nodes, in the same order (${CASES} cases)`, () => {
    let all = 0;
    fc.assert(
      fc.property(queue, adverts, picked('n'), fc.integer({ min: 0, max: 4 }), picked('run'), (...given) => {
        const naive = sweepNaively(...given);
        const { promoted } = sweepByHeads(...given);
        expect(promoted).toEqual(naive);
        all += naive.length;
      }),
      { numRuns: CASES },
    );
    tell({
      what: 'queues swept by their heads, and run by run',
      times: CASES,
      checked: all,
      of: 'promotions',
      lost: 0,
    });
    // The cases are none in which there is nothing to do.
    expect(all).toBeGreaterThan(CASES);
  });

  it('passes over whoever has left since it began, as though they had never been there', () => {
    fc.assert(
      fc.property(queue, adverts, picked('n'), fc.integer({ min: 0, max: 4 }), picked('run'), (...given) => {
        const [runs, offers, unavailable, cap, leaves] = given;
        const { promoted } = sweepByHeads(runs, offers, unavailable, cap, new Set(), leaves);
        expect(promoted).toEqual(sweepNaively(runs, offers, unavailable, cap, leaves));
      }),
      { numRuns: CASES / 5 },
    );
  });

  it('looks at a head for each line there is no room for, however long the line', () => {
    const node: Advert = {
      node_id: 'n0',
      label: 'n0',
      capabilities: [{ capability: 'board', attrs: { x: 'a' } }],
      offer_rev: 1,
    };
    const need = (attrs: Record<string, string>, count: number) => [{ as: 'r', capability: 'board', attrs, count }];
    const waiting = Array.from({ length: 1000 }, (_, index) => ({
      run_id: `run${index}`,
      requires: index === 990 ? need({ x: 'a' }, 1) : index % 2 ? need({ x: 'a' }, 2) : need({ x: 'b' }, 1),
      spread: false,
    }));
    const { promoted, looked } = sweepByHeads(waiting, [node], new Set(), 0, new Set());
    expect(promoted).toEqual([{ run_id: 'run990', nodes: ['n0'] }]);
    expect(looked).toBe(2);
  });
});

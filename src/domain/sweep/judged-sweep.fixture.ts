import { expect } from '@jest/globals';
import fc from 'fast-check';
import type { Requirement } from '../contract/contract.js';
import { signatureOf } from '../contract/contract-identity.js';
import type { Advert } from '../matching/fleet.js';
import { UnavailableNodes } from '../matching/fleet-use.js';
import { RankedFleet } from '../matching/ranked-fleet.js';
import { type BundledCommand, bundlePromotions, type EndOfPass } from './bundle-promotions.js';
import { type Promoted, sweepNaively, type WaitingRun } from './naive-sweep.fixture.js';
import { type NextInGroup, type Outcome, sweepByGroups } from './sweep-by-groups.js';
import { WaitingQueue } from './waiting-queue.js';

/** What a sweep starts from: the queue in order of arrival, the live nodes, those of them that are not free, and the cap. */
export interface SweepCase {
  queue: WaitingRun[];
  adverts: Advert[];
  unavailable: ReadonlySet<string>;
  cap: number;
}

const word = fc.constantFrom('a', 'a', 'b');
const attrs = fc.dictionary(fc.constantFrom('x', 'y'), word, { maxKeys: 2 });
const capability = fc.constantFrom('board', 'board', 'host');
const named = fc.integer({ min: 0, max: 11 }).map((node) => ({ capability: 'board', attrs: { node_id: `n${node}` } }));
const wanted = fc.record({ capability, count: fc.constantFrom(1, 1, 1, 2, 3), attrs });
const requirement = fc.oneof({ weight: 9, arbitrary: wanted }, { weight: 1, arbitrary: named });
const requires = fc
  .constantFrom(1, 1, 1, 2, 3)
  .chain((roles) => fc.array(requirement, { minLength: roles, maxLength: roles }))
  .map((roles): Requirement[] => roles.map((role, index) => ({ as: `r${index}`, ...role })));
const kindOfRun = fc.record({
  requires,
  spread: fc.boolean(),
  serverSteps: fc.constantFrom(false, false, false, true),
});
/** Few kinds of runs, many of each, so that a group has more than one. */
const queue = fc
  .array(kindOfRun, { minLength: 1, maxLength: 6 })
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
const sweepCase = fc.record({ queue, adverts, unavailable: picked('n'), cap: fc.integer({ min: 0, max: 4 }) });

/** The queue as it is kept in memory; arrival times come in pairs, which the sequence tells apart. */
function queueOf(runs: readonly WaitingRun[]): WaitingQueue {
  const waiting = new WaitingQueue();
  for (const [index, { run_id, requires, spread, serverSteps }] of runs.entries()) {
    const group = { signature: signatureOf(requires, spread), requires, spread };
    waiting.put({ run_id, arrived: index >>> 1, seq: index, serverSteps }, group);
  }
  return waiting;
}

/** A sweep as the queue's use case makes it, with promotions that are only noted down. */
export class PlayedSweep {
  readonly promoted: Promoted[] = [];
  /** How many runs it looked at, whether they could go or not. */
  looked = 0;
  /** Of each promotion how many runs it was of, whatever came of it. */
  readonly bundles: number[] = [];
  readonly #waiting: WaitingQueue;
  readonly #unavailable: UnavailableNodes;
  readonly #failed = new Set<string>();

  constructor(private readonly given: SweepCase) {
    this.#waiting = queueOf(given.queue);
    this.#unavailable = UnavailableNodes.of(RankedFleet.of(given.adverts), given.unavailable);
  }

  /**
   * One pass, which promotes at most so many together. `fails`: the promotion of these throws. `leaves`: what has left the queue as soon as the pass has its groups, as
   * the queue in memory may have it.
   */
  pass(most: number, { fails, leaves }: { fails?: ReadonlySet<string>; leaves?: ReadonlySet<string> } = {}): EndOfPass {
    // A pass reads anew who is unavailable: what an earlier one counted as taken and did not take is free again.
    const unavailable = this.#unavailable.copy();
    const groups = this.#waiting.oldestOfEachGroup(unavailable);
    this.looked += groups.length;
    for (const run of leaves ?? []) this.#waiting.remove(run);
    const nextInGroup: NextInGroup = (after) => {
      this.looked += 1;
      return this.#waiting.nextInGroup(after);
    };
    const commands = bundlePromotions(sweepByGroups(groups, nextInGroup, unavailable, this.given.cap), {
      most,
      passOver: (run) => this.#failed.has(run),
    });
    let next = commands.next();
    while (!next.done) next = commands.next(this.#carryOut(next.value, fails, leaves));
    return next.value;
  }

  #carryOut(command: BundledCommand, fails?: ReadonlySet<string>, leaves?: ReadonlySet<string>): Outcome | undefined {
    if (command.kind === 'log too wide') return undefined;
    const runs = command.runs.map(({ run, onto }) => ({
      run_id: run.run_id,
      nodes: onto.nodes.map((node) => node.node_id),
    }));
    this.bundles.push(runs.length);
    const failing = runs.filter(({ run_id }) => fails?.has(run_id) === true);
    if (failing.length > 0 || runs.some(({ run_id }) => leaves?.has(run_id))) {
      if (runs.length === 1) for (const { run_id } of failing) this.#failed.add(run_id);
      return { kind: 'passed over' };
    }
    for (const { run_id, nodes } of runs) {
      this.promoted.push({ run_id, nodes });
      for (const node of nodes) this.#unavailable.add(node);
      // The queue in memory may be read at any time, and then has what was promoted no more.
      this.#waiting.remove(run_id);
    }
    return { kind: 'promoted', holds: runs.flatMap(({ nodes }) => nodes) };
  }
}

/**
 * A sweep makes the promotions that its reference makes: the same runs, onto the same nodes, in the same order, bundled or
 * not. `onSwept` is told how many.
 */
export function sweepIsNaiveSweep(onSwept: (promotions: number) => void = () => undefined): fc.IProperty<unknown> {
  return fc.property(sweepCase, fc.constantFrom(1, 4, 64), (given, most) => {
    const naive = sweepNaively(given.queue, given.adverts, given.unavailable, given.cap);
    const sweep = new PlayedSweep(given);
    expect(sweep.pass(most)).toBe('complete');
    expect(sweep.promoted).toEqual(naive);
    onSwept(naive.length);
  });
}

/** So it does where promotions fail, or runs leave meanwhile, run by run. */
export function sweepPassesOver(what: 'fails' | 'leaves'): fc.IProperty<unknown> {
  return fc.property(sweepCase, picked('run'), (given, some) => {
    const sweep = new PlayedSweep(given);
    expect(sweep.pass(1, { [what]: some })).toBe('complete');
    expect(sweep.promoted).toEqual(sweepNaively(given.queue, given.adverts, given.unavailable, given.cap, some));
  });
}

/**
 * A bundle in which one fails is given up, and the runs go one by one in a pass of their own. There is no cap: a run that was
 * too wide in the first pass may fit in the second.
 */
export function sweepSurvivesFailedBundles(): fc.IProperty<unknown> {
  return fc.property(sweepCase, picked('run'), (any, fails) => {
    const given = { ...any, cap: 0 };
    const naive = sweepNaively(given.queue, given.adverts, given.unavailable, 0, fails);
    const sweep = new PlayedSweep(given);
    const end = sweep.pass(64, { fails });
    if (end === 'one by one') expect(sweep.pass(1, { fails })).toBe('complete');
    expect(sweep.promoted).toEqual(naive);
  });
}

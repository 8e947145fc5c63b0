import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { branchTargets } from '../contract/valid-steps.js';
import type { Contract } from '../contract/contract.js';
import { rebranch } from './rebranch.js';
import { contracts } from './contract-arbitrary.fixture.js';
import { Dice, rolls } from './dice.fixture.js';
import { type Acquiring, type Move, PlayedRun, storedAndRead } from './played-run.fixture.js';
import { nextMove } from './random-moves.fixture.js';
import type { StepNow } from './step-now.js';
/** How many cases each of the properties is tried on; `PROPERTY_RUNS=20000` for a long look. */
const numRuns = Number(process.env.PROPERTY_RUNS ?? 250);

interface Case {
  contract: Contract;
  rolls: number[];
  /** Whether an acquire gets a node, by step. */
  gets: boolean[];
}

const cases: fc.Arbitrary<Case> = fc.record({
  contract: contracts(),
  rolls: rolls(),
  gets: fc.array(fc.boolean(), { minLength: 16, maxLength: 16 }),
});

const acquiring =
  ({ gets }: Case): Acquiring =>
  ({ seq, id }) =>
    gets[seq - 1] ? `node-of-${id}` : undefined;

interface Played {
  run: PlayedRun;
  moves: Move[];
}

/** Plays a run to its end, looking at it after every move. */
function play(one: Case, look: (run: PlayedRun, move: Move, before: StepNow[]) => void = () => undefined): Played {
  const run = new PlayedRun(one.contract, acquiring(one));
  const dice = new Dice(one.rolls);
  const moves: Move[] = [];
  while (run.ending === undefined) {
    const move = nextMove(run, dice);
    if (move === undefined) throw new Error(`nothing can be done, and the run is not over: ${shown(run)}`);
    const before = copied(run.graph.steps);
    run.do(move);
    moves.push(move);
    look(run, move, before);
    if (moves.length > mostMoves(one.contract)) throw new Error(`the run does not end: ${shown(run)}`);
  }
  return { run, moves };
}

/** Each attempt of a step is claimed and reported at most once. */
function mostMoves({ steps }: Contract): number {
  return steps.reduce((sum, _, index) => sum + 2 * mostAttempts(steps, index), 0);
}

function mostAttempts(steps: Contract['steps'], index: number): number {
  const around = steps.find(({ loop }, last) => {
    const first = steps.findIndex((step) => step.id === loop?.back_to);
    return loop !== undefined && first <= index && index <= last;
  });
  return around?.loop?.max ?? 1;
}

const copied = (steps: readonly StepNow[]): StepNow[] => steps.map((step) => ({ ...step }));
const shown = ({ graph }: PlayedRun): string => graph.steps.map(({ id, state }) => `${id} ${state}`).join(', ');
const check = (property: fc.IProperty<[Case]>): void => fc.assert(property, { numRuns });

describe('the steps of any run', () => {
  it('end: there is always something to do, at most once for each attempt, and no attempt is one too many', () => {
    check(
      fc.property(cases, (one) => {
        const { run } = play(one, ({ graph }) => {
          const most = (step: StepNow): number =>
            step.kind === 'acquire' ? 1 : mostAttempts(one.contract.steps, step.seq - 1);
          expect(graph.steps.filter((step) => step.attempt > most(step))).toEqual([]);
        });
        expect(run.ending).toBeDefined();
      }),
    );
  });

  it('begin when their needs have ended, on a node, with a role that is not given back', () => {
    check(
      fc.property(cases, (one) => {
        play(one, (run, _move, before) => {
          const { steps } = run.graph;
          const hasEnded = (need: string): boolean => steps.some(({ id, state }) => id === need && hasOpened(state));
          const tooEarly = steps
            .filter((step) => hasBegun(step, before[step.seq - 1]!))
            .filter((step) => !step.needs.every(hasEnded));
          const nowhere = steps
            .filter((step) => step.state === 'CLAIMED')
            .filter((step) => step.node_id === '' || run.given.has(step.uses!));
          expect({ tooEarly, nowhere }).toEqual({ tooEarly: [], nowhere: [] });
        });
      }),
    );
  });

  it('are skipped exactly where no branch leads: a skipped branch never runs', () => {
    check(
      fc.property(cases, (one) => {
        play(one, ({ graph, ending }) => {
          if (ending === undefined) expect(wronglySkipped(graph.contract, graph.steps)).toEqual([]);
        });
      }),
    );
  });

  it('move along the allowed transitions only', () => {
    check(
      fc.property(cases, (one) => {
        play(one, (run, move, before) => {
          const again = run.graph.step(move.seq).attempt > before[move.seq - 1]!.attempt;
          const moved = run.graph.steps
            .map((step) => ({ step, from: before[step.seq - 1]! }))
            .filter(({ step, from }) => step.state !== from.state);
          const forbidden = moved
            .filter(({ step, from }) => {
              const allowed = step.attempt > from.attempt && again ? ROLLED_BACK : ALLOWED[from.state];
              return !allowed?.includes(step.state);
            })
            .map(({ step, from }) => `${step.id} from ${from.state} to ${step.state}`);
          const leftovers = run.graph.steps.filter(
            ({ state, result }) => state !== 'CANCELLED' && !isOver(state) && result,
          );
          expect({ forbidden, leftovers }).toEqual({ forbidden: [], leftovers: [] });
        });
      }),
    );
  });

  it('go the same way whenever the same happens, though they are written and read between the moves', () => {
    check(
      fc.property(cases, (one) => {
        const { run, moves } = play(one);
        const again = new PlayedRun(one.contract, acquiring(one));
        const stored = storedAndRead(again);
        for (const move of moves) {
          again.do(move);
          stored();
        }
        const bare = (steps: StepNow[]): object[] => steps.map(({ ended: _, ...step }) => step);
        expect(bare(again.graph.steps)).toEqual(bare(run.graph.steps));
        expect(again.ending).toEqual(run.ending);
      }),
    );
  });

  it('are left as they are by a bad choice, but for the step that has made it', () => {
    let tried = 0;
    check(
      fc.property(cases, (one) => {
        const { moves } = play(one);
        for (const [count, move] of moves.entries()) {
          const bad = withBadChoice(one.contract, move);
          if (bad === undefined) continue;
          const run = new PlayedRun(one.contract, acquiring(one));
          for (const before of moves.slice(0, count)) run.do(before);
          const [before, given, written] = [copied(run.graph.steps), [...run.given], run.graph.changes()];
          run.do(bad);
          // What fails for another reason makes no choice.
          if (!run.graph.step(move.seq).result?.error?.includes('"nowhere"')) continue;
          tried += 1;
          expect(run.graph.step(move.seq).state).toBe('FAILED');
          const others = (steps: StepNow[]) => steps.filter(({ seq }) => seq !== move.seq);
          // The failure ends the run, which cancels what has not ended.
          const expected = others(before).map((step) => (hasEnded(step) ? step : { ...step, state: 'CANCELLED' }));
          expect(others(run.graph.steps)).toEqual(expected);
          expect([...run.given]).toEqual(given);
          expect(run.graph.changes().attempts).toHaveLength(written.attempts.length + 1);
        }
      }),
    );
    expect(tried).toBeGreaterThan(numRuns / 10);
  });

  it('are branched the same when they are branched again', () => {
    check(
      fc.property(cases, (one) => {
        play(one, ({ graph, ending }) => {
          if (ending === undefined) expect(rebranch(graph.contract.steps, graph.steps)).toEqual([]);
        });
      }),
    );
  });
});

const hasOpened = (state: StepNow['state']): boolean => state === 'DONE' || state === 'SKIPPED';

const hasEnded = ({ state }: StepNow): boolean => hasOpened(state) || state === 'FAILED';

const isOver = (state: StepNow['state']): boolean => state === 'DONE' || state === 'FAILED';

const ROLLED_BACK = ['PENDING', 'SKIPPED', 'ASKED', 'CANCELLED'];
const ALLOWED: Partial<Record<StepNow['state'], StepNow['state'][]>> = {
  // An acquire is DONE, and a question ASKED, in the move that makes it ready.
  PENDING: ['CLAIMED', 'ASKED', 'SKIPPED', 'DONE', 'CANCELLED'],
  SKIPPED: ['PENDING', 'ASKED', 'DONE', 'CANCELLED'],
  CLAIMED: ['DONE', 'FAILED', 'CANCELLED'],
  ASKED: ['DONE', 'FAILED', 'CANCELLED'],
};

function hasBegun(step: StepNow, was: StepNow): boolean {
  const begun = ['CLAIMED', 'ASKED'].includes(step.state) || (step.kind === 'acquire' && step.state === 'DONE');
  return begun && (step.state !== was.state || step.attempt > was.attempt);
}

/** Judged step by step from what is there, without the engine's order: nobody's neighbour explains it otherwise. */
function wronglySkipped({ steps: specs }: Contract, steps: readonly StepNow[]): string[] {
  const byId = new Map(steps.map((step) => [step.id, step]));
  return steps
    .filter(({ state }) => state === 'PENDING' || state === 'SKIPPED')
    .filter((step) => {
      const branchers = steps
        .filter(({ seq, state }) => state === 'DONE' && branchTargets(specs[seq - 1]!).includes(step.id))
        .sort((a, b) => b.ended! - a.ended!);
      const acquire = specs.findIndex((spec) => spec.acquire?.want.as === step.uses);
      const by = acquire === -1 ? undefined : steps[acquire]!;
      const noNode =
        by?.state === 'SKIPPED' || (by?.state === 'DONE' && by.result?.branch !== specs[acquire]!.acquire!.acquired);
      const unreached = step.needs.length > 0 && step.needs.every((need) => byId.get(need)!.state === 'SKIPPED');
      const should = noNode || (branchers[0] ? branchers[0].result!.branch !== step.id : unreached);
      return should !== (step.state === 'SKIPPED');
    })
    .map(({ id, state }) => `${id} is ${state}`);
}

/** The same move with a choice that is none; undefined where it makes none. */
function withBadChoice({ steps }: Contract, move: Move): Move | undefined {
  const { dispatch, out = [] } = steps[move.seq - 1]!;
  if (dispatch === undefined || move.kind === 'claim') return undefined;
  const choice = { next: 'nowhere' };
  if (move.kind === 'answer') return { ...move, answer: choice };
  return { ...move, uploads: { ...move.uploads, [out[0]!]: JSON.stringify(choice) } };
}

import { describe, expect, it } from '@jest/globals';
import type { StepSpec } from '../contract/contract.js';
import { played } from './table.fixture.js';

const run = (id: string, more: Partial<StepSpec> = {}): StepSpec => ({ id, uses: 'a', run: ['true'], ...more });
const ask = (id: string, more: Partial<StepSpec> = {}): StepSpec => ({
  id,
  ask: { prompt: '?' },
  out: ['v'],
  schema: { v: { type: 'object' } },
  ...more,
});
const pick = (id: string, to: string[], more: Partial<StepSpec> = {}): StepSpec =>
  run(id, { out: ['o'], dispatch: { from: 'o', to }, ...more });
const back = (to: string, max = 3): Pick<StepSpec, 'loop'> => ({
  loop: { back_to: to, max, until: { exit_code: 0 } },
});
const OK = { exit_code: 0 };
const BAD = { exit_code: 1 };
const chose = (target: string): Record<string, string> => ({ o: JSON.stringify(target) });

describe('a step may begin', () => {
  it('when every step it needs is DONE', () => {
    const table = played(
      ['a'],
      [run('one'), run('two'), run('join', { needs: ['one', 'two'] }), run('free', { needs: [] })],
    );
    expect(table.claimable()).toEqual(['one', 'free']);
    table.report('one');
    expect(table.claimable()).toEqual(['two', 'free']);
    table.claim('two');
    expect(table.claimable()).toEqual(['free']);
    table.report('two');
    expect(table.claimable()).toEqual(['join', 'free']);
  });

  it('never, once a step has failed: the run is over', () => {
    const table = played(['a'], [run('one'), run('two'), run('free', { needs: [] })]);
    table.claim('free');
    table.report('one', BAD);
    expect(table.states()).toEqual({ one: 'FAILED', two: 'CANCELLED', free: 'CANCELLED' });
    expect(table.claimable()).toEqual([]);
  });

  it('and a question is raised by what makes it ready', () => {
    const table = played(['a'], [run('one'), ask('look'), run('two')]);
    expect(table.states().look).toBe('PENDING');
    table.report('one');
    expect([table.states().look, table.claimable()]).toEqual(['ASKED', []]);
    table.answer('look', { ok: true });
    expect(table.claimable()).toEqual(['two']);
  });
});

describe('a loop', () => {
  it('C6 that goes round: its range is PENDING in the next attempt, with no result', () => {
    const table = played(['a'], [run('before'), run('first'), run('last', back('first')), run('after')]);
    table.report('before');
    table.report('first');
    table.report('last', BAD);
    expect(table.run.graph.steps.map(({ state, attempt, result }) => [state, attempt, result])).toEqual([
      ['DONE', 1, OK],
      ['PENDING', 2, null],
      ['PENDING', 2, null],
      ['PENDING', 1, null],
    ]);
    expect(table.claimable()).toEqual(['first']);
    expect(table.run.ending).toBeUndefined();
  });

  it.each([
    ['exits 1, 1, 0', [BAD, BAD, OK], 'SUCCEEDED'],
    ['exits 1, 1, 1', [BAD, BAD, BAD], 'FAILED'],
  ])('C6 of three attempts, %s', (_what, reports, state) => {
    const table = played(['a'], [run('only', back('only'))]);
    for (const report of reports) table.report('only', report);
    expect([table.step('only').attempt, table.run.ending?.state]).toEqual([3, state]);
    expect(table.run.graph.changes().attempts.map(({ attempt, state }) => [attempt, state])).toEqual([
      [1, 'ROLLED_BACK'],
      [2, 'ROLLED_BACK'],
      [3, state === 'FAILED' ? 'FAILED' : 'DONE'],
    ]);
  });

  it('used up, with a failure that is allowed, is done and the run goes on', () => {
    const table = played(['a'], [run('only', { ...back('only', 2), allow_failure: true }), run('after')]);
    table.report('only', BAD);
    table.report('only', BAD);
    expect(table.states()).toEqual({ only: 'DONE', after: 'PENDING' });
  });

  it('takes away what is under way in its range, and asks its questions again', () => {
    const table = played(
      ['a'],
      [ask('look', { needs: [] }), run('busy', { needs: [] }), run('last', { needs: [], ...back('look') })],
    );
    table.claim('busy');
    table.report('last', BAD);
    expect(table.run.graph.steps.map(({ state, attempt }) => [state, attempt])).toEqual([
      ['ASKED', 2],
      ['PENDING', 2],
      ['PENDING', 2],
    ]);
    expect(table.run.graph.changes().attempts.map(({ seq, state }) => [seq, state])).toEqual([
      [1, 'ROLLED_BACK'],
      [2, 'ROLLED_BACK'],
      [3, 'ROLLED_BACK'],
    ]);
  });

  it('forgets what a dispatch inside it chose, and skipped, also beyond the loop', () => {
    const table = played(
      ['a'],
      [
        pick('pick', ['x', 'y']),
        run('x'),
        run('y'),
        run('last', { needs: ['x', 'y'], ...back('pick') }),
        run('out', { needs: ['y'] }),
      ],
    );
    table.report('pick', OK, chose('x'));
    expect(table.states()).toMatchObject({ y: 'SKIPPED', out: 'SKIPPED' });
    table.report('x');
    table.report('last', BAD);
    expect(table.states()).toEqual({ pick: 'PENDING', x: 'PENDING', y: 'PENDING', last: 'PENDING', out: 'PENDING' });
    expect(table.step('x').chosen).toBe(false);
    table.report('pick', OK, chose('y'));
    expect(table.states()).toMatchObject({ x: 'SKIPPED', y: 'PENDING', out: 'PENDING' });
  });

  it('leaves skipped what a branch outside it has skipped', () => {
    const table = played(
      ['a'],
      [pick('pick', ['x', 'y']), run('x'), run('y'), run('last', { needs: ['x', 'y'], ...back('x') })],
    );
    table.report('pick', OK, chose('y'));
    table.report('y');
    table.report('last', BAD);
    expect(table.run.graph.steps.map(({ state, attempt, chosen }) => [state, attempt, chosen])).toEqual([
      ['DONE', 1, false],
      ['SKIPPED', 2, false],
      ['PENDING', 2, true],
      ['PENDING', 2, false],
    ]);
  });

  it('does not acquire again: the node and the branch stay', () => {
    const take: StepSpec = {
      id: 'take',
      acquire: { want: { as: 'c', capability: 'board' }, acquired: 'more', unavailable: 'less' },
    };
    const steps = [
      run('first'),
      take,
      run('more', { uses: 'c' }),
      run('less'),
      run('last', { needs: ['more', 'less'], ...back('first') }),
    ];
    const table = played(['a'], steps, { gets: ['take'] });
    table.report('first');
    table.report('more');
    table.report('last', BAD);
    expect(table.run.graph.steps.map(({ state, attempt, chosen }) => [state, attempt, chosen])).toEqual([
      ['PENDING', 2, false],
      ['DONE', 1, false],
      ['PENDING', 2, true],
      ['SKIPPED', 2, false],
      ['PENDING', 2, false],
    ]);
  });

  it('that a branch outside has given up meanwhile does not go round: it is skipped, and the run is judged', () => {
    const table = played(
      ['a'],
      [pick('pick', ['x', 'y']), run('x', { needs: [], ...back('x') }), run('y', { needs: ['pick'] })],
    );
    table.claim('x');
    table.report('pick', OK, chose('y'));
    table.report('y');
    expect(table.run.ending).toBeUndefined();
    table.report('x', BAD);
    expect(table.states()).toEqual({ pick: 'DONE', x: 'SKIPPED', y: 'DONE' });
    expect(table.run.ending?.state).toBe('SUCCEEDED');
  });

  it('that is given up so lets an acquire behind it go on', () => {
    const take: StepSpec = {
      id: 'take',
      needs: ['x', 'y'],
      acquire: { want: { as: 'c', capability: 'board' }, acquired: 'more', unavailable: 'less' },
    };
    const steps = [
      pick('pick', ['x', 'y']),
      run('x', { needs: [], ...back('x') }),
      run('y', { needs: ['pick'] }),
      take,
      run('more'),
      run('less'),
    ];
    const table = played(['a'], steps);
    table.claim('x');
    table.report('pick', OK, chose('y'));
    table.report('y');
    table.report('x', BAD);
    expect(table.states()).toMatchObject({ x: 'SKIPPED', take: 'DONE', more: 'SKIPPED', less: 'PENDING' });
  });
});

import { describe, expect, it } from '@jest/globals';
import type { StepSpec } from '../contract/contract.js';
import { played } from './table.fixture.js';

const run = (id: string, more: Partial<StepSpec> = {}): StepSpec => ({ id, uses: 'a', run: ['true'], ...more });
const pick = (id: string, to: string[], more: Partial<StepSpec> = {}): StepSpec =>
  run(id, { out: ['o'], dispatch: { from: 'o', to }, ...more });
const OK = { exit_code: 0 };
const chose = (target: string): Record<string, string> => ({ o: JSON.stringify(target) });

describe('a dispatch', () => {
  it('chooses one target, skips the others, and the skip spreads to their end; a join after both runs', () => {
    const table = played(
      ['a'],
      [
        pick('pick', ['x', 'y', 'z']),
        run('x'),
        run('y'),
        run('z'),
        run('z2'),
        run('z3'),
        run('join', { needs: ['x', 'y', 'z3'] }),
      ],
    );
    expect(table.claimable()).toEqual(['pick']);
    table.report('pick', OK, chose('x'));
    expect(table.states()).toEqual({
      pick: 'DONE',
      x: 'PENDING',
      y: 'SKIPPED',
      z: 'SKIPPED',
      z2: 'SKIPPED',
      z3: 'SKIPPED',
      join: 'PENDING',
    });
    expect([table.step('x').chosen, table.step('y').chosen]).toEqual([true, false]);
    expect(table.step('pick').result).toEqual({ exit_code: 0, branch: 'x' });
    expect(table.claimable()).toEqual(['x']);
    table.report('x');
    expect(table.claimable()).toEqual(['join']);
  });

  it('does not skip a step one of whose needs is not skipped, nor one that needs nothing', () => {
    const table = played(
      ['a'],
      [pick('pick', ['x', 'y']), run('x'), run('y'), run('half', { needs: ['pick', 'y'] }), run('free', { needs: [] })],
    );
    table.report('pick', OK, chose('x'));
    expect(table.states()).toMatchObject({ y: 'SKIPPED', half: 'PENDING', free: 'PENDING' });
  });

  it.each([
    ['no member', '"nowhere"'],
    ['no JSON', 'x'],
  ])('whose choice is %s fails, and nothing is skipped or chosen', (_what, text) => {
    const table = played(['a'], [pick('pick', ['x', 'y']), run('x'), run('y')]);
    table.report('pick', OK, { o: text });
    expect(table.states()).toEqual({ pick: 'FAILED', x: 'CANCELLED', y: 'CANCELLED' });
    expect(table.step('pick').result).toMatchObject({ exit_code: 0, error: expect.stringContaining('the choice o') });
    expect(table.step('x').chosen).toBe(false);
    expect(table.run.ending?.verdict.reason).toBe('step_failed');
  });

  it('revives a target that an earlier branch skipped, and what was skipped for its sake', () => {
    const table = played(
      ['a'],
      [
        pick('first', ['x', 'second']),
        pick('second', ['x', 'z']),
        run('x', { needs: ['first'] }),
        run('x2'),
        run('z', { needs: ['second'] }),
      ],
    );
    table.report('first', OK, chose('second'));
    expect(table.states()).toMatchObject({ x: 'SKIPPED', x2: 'SKIPPED', z: 'PENDING' });
    table.report('second', OK, chose('x'));
    expect(table.states()).toMatchObject({ x: 'PENDING', x2: 'PENDING', z: 'SKIPPED' });
    table.report('x');
    table.report('x2');
    expect(table.run.ending?.state).toBe('SUCCEEDED');
  });

  it('skips a target that an earlier branch chose and that has not begun: it stays one that had been chosen', () => {
    const steps = [
      pick('first', ['x', 'y']),
      pick('second', ['x', 'z'], { needs: [] }),
      run('x'),
      run('y'),
      run('z', { needs: [] }),
    ];
    const table = played(['a'], steps, { success_when: [{ step: 'x', exit_code: 0 }] });
    table.report('first', OK, chose('x'));
    table.report('second', OK, chose('z'));
    expect([table.states().x, table.step('x').chosen]).toEqual(['SKIPPED', true]);
    table.report('z');
    expect(table.run.ending?.verdict.reason).toBe('conditions_unmet');
  });

  it('leaves alone what has begun', () => {
    const table = played(['a'], [pick('pick', ['x', 'y']), run('x', { needs: [] }), run('y')]);
    table.claim('x');
    table.report('pick', OK, chose('y'));
    expect(table.states().x).toBe('CLAIMED');
    table.report('x');
    expect(table.states()).toEqual({ pick: 'DONE', x: 'DONE', y: 'PENDING' });
  });

  it('may hang on a question: the answer chooses', () => {
    const ask: StepSpec = {
      id: 'look',
      ask: { prompt: '?' },
      out: ['v'],
      schema: { v: { type: 'object' } },
      dispatch: { from: 'v.next', to: ['x', 'y'] },
    };
    const table = played(['a'], [ask, run('x'), run('y')]);
    expect(table.states().look).toBe('ASKED');
    table.answer('look', { next: 'y' });
    expect(table.states()).toEqual({ look: 'DONE', x: 'SKIPPED', y: 'PENDING' });
  });
});

describe('an acquire', () => {
  const take: StepSpec = {
    id: 'take',
    acquire: { want: { as: 'c', capability: 'board' }, acquired: 'more', unavailable: 'less' },
  };
  const steps = [take, run('more', { uses: 'c' }), run('less'), run('join', { needs: ['more', 'less'] })];

  it('that gets a node binds the steps of its role and takes the branch `acquired`', () => {
    const table = played(['a'], steps, { gets: ['take'] });
    expect(table.states()).toEqual({ take: 'DONE', more: 'PENDING', less: 'SKIPPED', join: 'PENDING' });
    expect([table.step('more').node_id, table.step('more').chosen]).toEqual(['node-of-take', true]);
  });

  it('that gets none takes the branch `unavailable`, and the run goes on', () => {
    const table = played(['a'], steps);
    expect(table.states()).toEqual({ take: 'DONE', more: 'SKIPPED', less: 'PENDING', join: 'PENDING' });
    table.report('less');
    table.report('join');
    expect(table.run.ending?.state).toBe('SUCCEEDED');
  });

  it('that gets none skips every step that uses its role, on whatever branch: there is no node for it, ever', () => {
    const table = played(['a'], [...steps, run('last', { uses: 'c' }), run('end', { needs: ['join'] })]);
    expect(table.states()).toMatchObject({ join: 'PENDING', last: 'SKIPPED', end: 'PENDING' });
    for (const id of ['less', 'join', 'end']) table.report(id);
    expect(table.run.ending?.state).toBe('SUCCEEDED');
  });

  it('that is skipped skips them too, and they come back when it does', () => {
    const more = { ...take, needs: ['first'] };
    const table = played(
      ['a'],
      [
        pick('first', ['take', 'other']),
        pick('second', ['take', 'alone'], { needs: [] }),
        more,
        run('more', { uses: 'c', needs: ['take'] }),
        run('less', { needs: ['take'] }),
        run('alone', { needs: ['second'] }),
        run('other', { needs: ['first'] }),
        run('late', { uses: 'c', needs: ['more', 'other'] }),
      ],
      { gets: ['take'] },
    );
    table.report('first', OK, chose('other'));
    expect(table.states()).toMatchObject({ take: 'SKIPPED', more: 'SKIPPED', late: 'SKIPPED' });
    table.report('second', OK, chose('take'));
    expect(table.states()).toMatchObject({ take: 'DONE', more: 'PENDING', less: 'SKIPPED', late: 'PENDING' });
  });

  it('whose both branches need the role that it does not get: the run is over before it began', () => {
    const { run: over } = played(['a'], [take, run('more', { uses: 'c' }), run('less', { uses: 'c' })]);
    expect(over.ending?.state).toBe('SUCCEEDED');
  });
});

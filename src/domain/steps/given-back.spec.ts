import { describe, expect, it } from '@jest/globals';
import type { StepSpec } from '../contract/contract.js';
import { played, type Table } from './table.fixture.js';

const run = (id: string, uses: string, more: Partial<StepSpec> = {}): StepSpec => ({
  id,
  uses,
  run: ['true'],
  ...more,
});

describe('the roles that are given back', () => {
  const given = (table: Table): string[] => [...table.run.given].sort();

  it('are those of a step that is done, and not before', () => {
    const table = played(['a', 'b'], [run('one', 'a', { release: ['a'] }), run('two', 'b')]);
    expect(given(table)).toEqual([]);
    table.report('one');
    expect(given(table)).toEqual(['a']);
  });

  it('are none where the step goes wrong', () => {
    const table = played(['a'], [run('one', 'a', { release: ['a'] })]);
    table.report('one', { exit_code: 1 });
    expect(given(table)).toEqual([]);
  });

  it('wait for a step that is still at work behind one that was skipped', () => {
    const table = played(
      ['a', 'b'],
      [
        run('slow', 'a'),
        run('pick', 'b', { needs: [], out: ['o'], dispatch: { from: 'o', to: ['after', 'other'] } }),
        run('after', 'b', { needs: ['slow'] }),
        run('other', 'b', { needs: ['pick'] }),
        run('end', 'b', { needs: ['after', 'other'], release: ['a'] }),
        run('last', 'b'),
      ],
    );
    table.claim('slow');
    table.report('pick', { exit_code: 0 }, { o: '"other"' });
    table.report('other');
    table.report('end');
    expect(given(table)).toEqual([]);
    table.report('slow');
    expect(given(table)).toEqual(['a']);
  });

  it('wait for a loop that may send their step round again', () => {
    const table = played(
      ['a', 'b'],
      [
        run('build', 'a'),
        run('test', 'b', { loop: { back_to: 'build', max: 3, until: { exit_code: 0 } } }),
        run('publish', 'b', { needs: ['build'], release: ['a'] }),
      ],
    );
    table.report('build');
    table.report('publish');
    expect(given(table)).toEqual([]);
    table.report('test', { exit_code: 1 });
    table.report('build');
    expect(given(table)).toEqual([]);
  });

  it('wait for a branch that may revive their step', () => {
    const table = played(
      ['a', 'b'],
      [
        run('first', 'b', { out: ['o'], dispatch: { from: 'o', to: ['x', 'y'] } }),
        run('second', 'b', { needs: [], out: ['o'], dispatch: { from: 'o', to: ['x', 'z'] } }),
        run('x', 'a', { needs: ['first'] }),
        run('y', 'b', { needs: ['first'] }),
        run('z', 'b', { needs: ['second'] }),
        run('end', 'b', { needs: ['x', 'y'], release: ['a'] }),
      ],
    );
    table.report('first', { exit_code: 0 }, { o: '"y"' });
    table.report('y');
    table.report('end');
    expect(given(table)).toEqual([]);
    table.report('second', { exit_code: 0 }, { o: '"x"' });
    expect([table.states().x, given(table)]).toEqual(['PENDING', []]);
    table.report('x');
    expect(table.run.ending?.state).toBe('SUCCEEDED');
  });

  it('come free when an acquire skips the last step that could have used them', () => {
    const table = played(
      ['a', 'b'],
      [
        run('first', 'b', { out: ['o'], dispatch: { from: 'o', to: ['x', 'y'] } }),
        run('wait', 'b', { needs: [] }),
        { id: 'more', acquire: { want: { as: 'c', capability: 'board' }, acquired: 'x', unavailable: 'z' } },
        run('x', 'a', { needs: ['first'] }),
        run('y', 'b', { needs: ['first'] }),
        run('z', 'b', { needs: ['more'] }),
        run('end', 'b', { needs: ['x', 'y'], release: ['a'] }),
      ],
    );
    table.report('first', { exit_code: 0 }, { o: '"y"' });
    table.report('y');
    table.report('end');
    expect(given(table)).toEqual([]);
    table.report('wait');
    expect(table.states()).toMatchObject({ x: 'SKIPPED', z: 'PENDING' });
    expect(given(table)).toEqual(['a']);
  });
});

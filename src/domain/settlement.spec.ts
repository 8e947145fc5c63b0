import { describe, expect, it } from '@jest/globals';
import type { Condition } from './contract/contract.js';
import { settlement } from './settlement.js';
import type { StepState } from './states.js';
import type { StepResult } from './steps/step-now.js';
import { THE_SERVER } from './verdict.js';

interface Given {
  state: StepState;
  chosen?: boolean;
  result?: StepResult;
}

const settle = (steps: Record<string, Given>, conditions: Condition[] = [], uploaded: Record<number, string[]> = {}) =>
  settlement(
    Object.entries(steps).map(([id, { state, chosen = false, result = null }], index) => {
      return { seq: index + 1, id, state, chosen, result };
    }),
    conditions,
    new Map(Object.entries(uploaded).map(([seq, names]) => [Number(seq), new Set(names)])),
    THE_SERVER,
  );

const DONE: Given = { state: 'DONE', result: { exit_code: 0 } };
const SKIPPED: Given = { state: 'SKIPPED' };

describe('a running run', () => {
  it.each<StepState>(['PENDING', 'CLAIMED', 'ASKED'])('goes on while a step is %s', (state) => {
    expect(settle({ one: DONE, two: { state } })).toBeUndefined();
    expect(settle({ one: DONE, two: { state } }, [{ step: 'one', exit_code: 1 }])).toBeUndefined();
  });

  it('FAILED at once when a step has, whatever goes on and whatever the conditions say', () => {
    const steps = {
      one: DONE,
      two: { state: 'FAILED', result: { exit_code: 3 } },
      three: { state: 'CLAIMED' },
    } as const;
    expect(settle(steps, [{ step: 'one', exit_code: 0 }])).toEqual({
      state: 'FAILED',
      verdict: {
        reason: 'step_failed',
        detail: 'step two failed with exit code 3',
        by: THE_SERVER,
        checks: [{ step: 'two', what: 'state', want: 'DONE', got: 'FAILED', ok: false }],
      },
    });
    expect(settle({ one: { state: 'FAILED', result: { exit_code: 0, error: 'no' } } })?.verdict.detail).toBe(
      'step one failed: no',
    );
  });

  it('SUCCEEDED without conditions when every step is done or skipped, chosen or not', () => {
    const steps = { one: DONE, two: SKIPPED, three: { ...SKIPPED, chosen: true } };
    expect(settle(steps)).toMatchObject({ state: 'SUCCEEDED', verdict: { reason: 'succeeded' } });
    expect(settle(steps)?.verdict.checks.map(({ step, ok }) => [step, ok])).toEqual([
      ['one', true],
      ['two', true],
      ['three', true],
    ]);
  });

  it.each<[string, Record<string, Given>, Condition[], Record<number, string[]>, string]>([
    ['its exit code', { one: DONE }, [{ step: 'one', exit_code: 0 }], {}, 'SUCCEEDED'],
    ['another exit code', { one: DONE }, [{ step: 'one', exit_code: 2 }], {}, 'FAILED'],
    ['what it produced', { one: DONE }, [{ step: 'one', produced: ['o'] }], { 1: ['o'] }, 'SUCCEEDED'],
    ['what it did not produce', { one: DONE }, [{ step: 'one', produced: ['o', 'p'] }], { 1: ['o'] }, 'FAILED'],
    ['what another produced', { one: DONE, two: DONE }, [{ step: 'one', produced: ['o'] }], { 2: ['o'] }, 'FAILED'],
    ['one of two', { one: DONE }, [{ step: 'one', exit_code: 0, produced: ['o'] }], {}, 'FAILED'],
    [
      'a skipped step beside one that holds',
      { one: DONE, two: SKIPPED },
      [
        { step: 'one', exit_code: 0 },
        { step: 'two', exit_code: 0 },
      ],
      {},
      'SUCCEEDED',
    ],
    [
      'a skipped step that had been chosen',
      { one: DONE, two: { ...SKIPPED, chosen: true } },
      [
        { step: 'one', exit_code: 0 },
        { step: 'two', exit_code: 0 },
      ],
      {},
      'FAILED',
    ],
    [
      'skipped steps only: nothing was done',
      { one: DONE, two: SKIPPED },
      [{ step: 'two', exit_code: 0 }],
      {},
      'FAILED',
    ],
  ])('is judged by %s', (_what, steps, conditions, uploaded, state) => {
    expect(settle(steps, conditions, uploaded)).toMatchObject({
      state,
      verdict: { reason: state === 'SUCCEEDED' ? 'succeeded' : 'conditions_unmet' },
    });
  });

  it('says what was not as it should be', () => {
    const conditions = [{ step: 'one', exit_code: 2, produced: ['o'] }];
    expect(settle({ one: DONE }, conditions)?.verdict).toMatchObject({
      detail: 'success_when does not hold: exit_code of step one, produced of step one',
      checks: [
        { step: 'one', what: 'exit_code', want: 2, got: 0, ok: false },
        { step: 'one', what: 'produced', want: 'o', ok: false },
      ],
    });
  });

  it('an empty list of conditions means none', () => {
    expect(settle({ one: DONE }, [])).toEqual(settle({ one: DONE }));
  });
});

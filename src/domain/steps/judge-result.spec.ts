import { describe, expect, it } from '@jest/globals';
import type { StepSpec } from '../contract/contract.js';
import { choiceOutput, judgeResult, readChoice, type ReportedResult } from './judge-result.js';

const BARE: StepSpec = { id: 's', uses: 'a', run: ['true'] };
const LOOP: StepSpec = { ...BARE, loop: { back_to: 's', max: 3, until: { exit_code: 0 } } };
const NAMED: StepSpec = { ...BARE, out: ['o', 'p'], loop: { back_to: 's', max: 3, until: { produced: ['o'] } } };
const missing = (names: string): object => ({ kind: 'failed', error: `not uploaded in this attempt: ${names}` });

describe('a report is judged', () => {
  it.each<[string, StepSpec, ReportedResult, number, string[], object]>([
    ['exit 0 is done', BARE, { exit_code: 0 }, 1, [], { kind: 'done' }],
    ['exit 1 fails', BARE, { exit_code: 1 }, 1, [], { kind: 'failed' }],
    ['exit 1 that is allowed is done', { ...BARE, allow_failure: true }, { exit_code: 1 }, 1, [], { kind: 'done' }],
    ['an agent needs no exit code', { id: 's', uses: 'a', agent: {} }, {}, 1, [], { kind: 'done' }],
    ['an error fails, exit 0 or not', BARE, { exit_code: 0, error: 'no' }, 1, [], { kind: 'failed' }],
    ['an error comes before the loop', LOOP, { exit_code: 1, error: 'no' }, 1, [], { kind: 'failed' }],
    ['an error that says nothing is one', BARE, { exit_code: 0, error: '' }, 1, [], { kind: 'failed' }],
    ['the loop comes before the exit code', LOOP, { exit_code: 1 }, 1, [], { kind: 'again' }],
    ['the loop comes before missing outputs', NAMED, { exit_code: 0 }, 1, [], { kind: 'again' }],
    ['the loop goes on in the last but one attempt', LOOP, { exit_code: 1 }, 2, [], { kind: 'again' }],
    ['no attempts left: the exit code counts', LOOP, { exit_code: 1 }, 3, [], { kind: 'failed' }],
    [
      'no attempts left: an allowed exit code is done',
      { ...LOOP, allow_failure: true },
      { exit_code: 1 },
      3,
      [],
      { kind: 'done' },
    ],
    ['no attempts left: missing outputs count', NAMED, { exit_code: 0 }, 3, [], missing('o, p')],
    ['until that holds ends the loop, and the rest counts', NAMED, { exit_code: 0 }, 1, ['o'], missing('p')],
    ['until that holds ends the loop, exit 1 fails', NAMED, { exit_code: 1 }, 1, ['o', 'p'], { kind: 'failed' }],
    [
      'until wants both',
      { ...NAMED, loop: { back_to: 's', max: 2, until: { exit_code: 0, produced: ['o', 'p'] } } },
      { exit_code: 0 },
      1,
      ['o'],
      { kind: 'again' },
    ],
    [
      'a promised output that is missing is named',
      { ...BARE, out: ['o', 'p'] },
      { exit_code: 0 },
      1,
      ['p'],
      missing('o'),
    ],
    [
      'missing outputs fail though failure is allowed',
      { ...BARE, out: ['o'], allow_failure: true },
      { exit_code: 1 },
      1,
      [],
      missing('o'),
    ],
    [
      'what was produced unpromised must be there too',
      BARE,
      { exit_code: 0, produced: ['x', 'x'] },
      1,
      [],
      missing('x'),
    ],
    ['what was produced and is there is fine', BARE, { exit_code: 0, produced: ['x'] }, 1, ['x'], { kind: 'done' }],
  ])('%s', (_what, spec, report, attempt, uploaded, judgement) => {
    expect(judgeResult(report, spec, attempt, new Set(uploaded))).toEqual(judgement);
  });

  it('with at most 20 missing names', () => {
    const out = Array.from({ length: 23 }, (_, at) => `o${at}`);
    const { error } = judgeResult({ exit_code: 0 }, { ...BARE, out }, 1, new Set()) as { error: string };
    expect(error).toMatch(/o19 and 3 more$/);
  });
});

const choosing = (from: string, out = ['plan', 'plan.v2']) => ({
  id: 's',
  uses: 'a',
  run: ['true'],
  out,
  dispatch: { from, to: ['x', 'y'] },
});
const refused = (from: string, output: string | null | undefined): string =>
  (readChoice(choosing(from), output) as { error: string }).error;

describe('the choice of a dispatch', () => {
  it.each([
    ['the output itself', 'plan', 'plan', '"x"'],
    ['a field', 'plan.next', 'plan', '{"next":"y"}'],
    ['a field of a field', 'plan.next.step', 'plan', '{"next":{"step":"x"}}'],
    ['the longest name that fits, though names have dots', 'plan.v2', 'plan.v2', '"x"'],
    ['a field below a name with a dot', 'plan.v2.next', 'plan.v2', '{"next":"y"}'],
    ['an element of an array', 'plan.1', 'plan', '["y","x"]'],
  ])('is %s', (_what, from, output, text) => {
    expect(choiceOutput(choosing(from))).toBe(output);
    expect(readChoice(choosing(from), text)).toEqual({ target: expect.stringMatching(/^[xy]$/) });
  });

  it.each([
    ['was not uploaded', 'plan', undefined, 'the choice plan was not uploaded'],
    ['is not JSON', 'plan', 'x', 'the choice plan cannot be read: the output is not JSON'],
    ['is empty', 'plan', '', 'the choice plan cannot be read: the output is not JSON'],
    ['is no member', 'plan', '"z"', 'the choice plan is "z"; it must be one of x, y'],
    ['is no string', 'plan.next', '{"next":["x"]}', 'the choice plan.next is ["x"]; it must be one of x, y'],
    ['is not there', 'plan.next', '{}', 'the choice plan.next is nothing; it must be one of x, y'],
    ['is below null', 'plan.next', 'null', 'the choice plan.next is nothing; it must be one of x, y'],
    ['is below a string', 'plan.length', '"x"', 'the choice plan.length is nothing; it must be one of x, y'],
    [
      'is inherited',
      'plan.constructor.name',
      '{}',
      'the choice plan.constructor.name is nothing; it must be one of x, y',
    ],
  ])('that %s is a bad one', (_what, from, text, message) => {
    expect(refused(from, text)).toBe(message);
  });

  it('is not read from an output that is too large to be parsed while others wait', () => {
    expect(refused('plan', null)).toBe('the choice plan cannot be read: its output is over 1048576 bytes');
  });

  it('is shown short, and well-formed even where the cut would split a character', () => {
    const message = refused('plan', JSON.stringify('a'.repeat(98) + '😀'.repeat(50)));
    expect(message).toMatch(/^the choice plan is "a{98}😀; it/u);
    expect(encodeURIComponent(message)).toBeDefined();
  });
});

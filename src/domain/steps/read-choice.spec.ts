import { describe, expect, it } from '@jest/globals';
import { BadChoice, choiceOutput, readChoice } from './read-choice.js';

const choosing = (from: string, out = ['plan', 'plan.v2']) => ({
  id: 's',
  uses: 'a',
  run: ['true'],
  out,
  dispatch: { from, to: ['x', 'y'] },
});
const refused = (from: string, output: string | null | undefined): string => {
  try {
    return `chose ${readChoice(choosing(from), output)}`;
  } catch (error) {
    expect(error).toBeInstanceOf(BadChoice);
    return (error as Error).message;
  }
};

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
    expect(['x', 'y']).toContain(readChoice(choosing(from), text));
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

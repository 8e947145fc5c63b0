import { describe, expect, it } from '@jest/globals';
import type { StepSpec } from './contract.js';
import { needsOf } from './valid-steps.js';
import { EVERYTHING } from './valid-contract.fixture.js';

const step = (id: string, more: Partial<StepSpec> = {}): StepSpec => ({ id, uses: 'a', run: ['true'], ...more });
const needs = (...steps: StepSpec[]): string[][] => needsOf({ requires: [{ as: 'a', capability: 'c' }], steps });
const to = ['x', 'y'];

describe('needsOf', () => {
  it('takes needs that are present as they are', () => {
    expect(needs(step('s'), step('t'), step('u', { needs: ['s'] }))).toEqual([[], ['s'], ['s']]);
  });

  it('lets a step with [] wait for nothing', () => {
    expect(needs(step('s'), step('t', { needs: [] }))).toEqual([[], []]);
  });

  it('lets a branch wait for the step that chooses it, the first of several', () => {
    const dispatch = { from: 'o', to };
    expect(
      needs(step('s', { out: ['o'], dispatch }), step('t', { out: ['o'], dispatch }), step('x'), step('y')),
    ).toEqual([[], ['s'], ['s'], ['s']]);
  });

  it('lets a branch that says what it needs have that', () => {
    expect(needs(step('r'), step('s', { dispatch: { from: 'o', to } }), step('x', { needs: [] }), step('y'))).toEqual([
      [],
      ['r'],
      [],
      ['s'],
    ]);
  });

  it('follows every kind of step in a contract that uses all', () => {
    expect(needsOf(EVERYTHING)).toEqual([
      [],
      ['make'],
      ['test'],
      ['retry'],
      ['think'],
      ['think'],
      ['x', 'y'],
      ['join'],
      ['more'],
      ['more'],
      ['have', 'lack'],
    ]);
  });
});

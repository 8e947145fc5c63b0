import { describe, expect, it } from '@jest/globals';
import { dispatchSource } from './dispatch-source.js';

describe('dispatchSource', () => {
  it.each([
    ['plan', ['plan'], { out: 'plan', fields: [] }],
    ['plan.next.step', ['plan'], { out: 'plan', fields: ['next', 'step'] }],
    ['plan.next.step', ['plan', 'plan.next'], { out: 'plan.next', fields: ['step'] }],
    ['plan.next', ['plan', 'plan.next', 'plan.next.step'], { out: 'plan.next', fields: [] }],
    ['plans', ['plan'], undefined],
    ['plan.', ['plan'], undefined],
    ['plan..step', ['plan'], undefined],
    ['', ['plan'], undefined],
  ])('%s of %j', (from, outs, source) => {
    expect(dispatchSource(from, outs)).toEqual(source);
  });
});

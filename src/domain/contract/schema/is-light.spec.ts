import { describe, expect, it } from '@jest/globals';
import { countValues, isLightContract } from './is-light.js';

it.each([
  [0, true],
  [0, {}],
  [2, { required: ['a'] }],
  [6, { oneOf: [true, { not: {} }], enum: [[]] }],
])('there are %d values in %j', (count, value) => {
  expect(countValues(value)).toBe(count);
});

const withSchema = (schema: unknown): unknown => ({ steps: [{ id: 's', out: ['o'], schema: { o: schema } }] });
const times = (count: number): object[] => Array.from({ length: count }, () => ({}));

describe('a contract', () => {
  it.each<[string, unknown]>([
    ['without steps', {}],
    ['that is none', null],
    ['with a form', withSchema({ type: 'object', required: ['ok'], properties: { ok: { type: 'boolean' } } })],
    ['with a short pattern', withSchema({ pattern: '^[a-z]+$' })],
  ])('%s is light', (_what, sent) => expect(isLightContract(sent)).toBe(true));

  it.each<[string, unknown]>([
    ['with many values', withSchema({ oneOf: times(64) })],
    ['with many values in several schemas', { steps: times(20).map(() => ({ schema: { o: { oneOf: times(4) } } })) }],
    ['with a pattern that repeats', withSchema({ pattern: '.{1000}' })],
    ['with such a name of a property', withSchema({ patternProperties: { '.{1000}': {} } })],
    ['with long patterns', withSchema({ pattern: 'a'.repeat(65) })],
    ['with a default', { steps: [{ ask: { default: {} } }] }],
  ])('%s is not', (_what, sent) => expect(isLightContract(sent)).toBe(false));
});

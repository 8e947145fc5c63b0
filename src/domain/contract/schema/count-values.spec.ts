import { expect, it } from '@jest/globals';
import { countValues } from './count-values.js';

it.each([
  [0, true],
  [0, {}],
  [2, { required: ['a'] }],
  [6, { oneOf: [true, { not: {} }], enum: [[]] }],
])('there are %d values in %j', (count, value) => {
  expect(countValues(value)).toBe(count);
});

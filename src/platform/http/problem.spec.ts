import { expect, it } from '@jest/globals';
import { faulty } from './problem.js';

it.each([
  ['/capabilities', 'must be an array', '/capabilities must be an array'],
  ['', 'There may be at most 4000 members.', 'the body: There may be at most 4000 members'],
])('what is wrong with %j is said in a sentence that can be read: %s', (pointer, detail, sentence) => {
  expect(faulty([{ pointer, detail }], 'the body').detail).toBe(sentence);
});

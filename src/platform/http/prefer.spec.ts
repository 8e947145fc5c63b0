import { describe, expect, it } from '@jest/globals';
import { preferredWait } from './prefer.js';

describe('Prefer: wait', () => {
  it.each([
    ['wait=10', 10],
    ['wait=0', 0],
    ['wait=61', 60],
    ['WAIT = "5"; x=y', 5],
    ['respond-async, wait=10, wait=20', 10],
    [['respond-async', 'wait=7'], 7],
  ])('%j is %i seconds', (header, seconds) => {
    expect(preferredWait(header)).toBe(seconds);
  });

  it.each([undefined, '', 'wait', 'wait=', 'wait=-1', 'wait=1.5', 'await=5', 'return=minimal'])(
    '%s is none',
    (header) => {
      expect(preferredWait(header)).toBeUndefined();
    },
  );
});

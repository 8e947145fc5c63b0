import { describe, expect, it } from '@jest/globals';
import { openRangeStart, rangeOf } from './answer-bytes.js';

describe('the header Range', () => {
  it.each([
    ['bytes=0-0', 10, { first: 0, last: 0 }],
    ['bytes=2-5', 10, { first: 2, last: 5 }],
    ['bytes=2-', 10, { first: 2, last: 9 }],
    ['bytes=2-99999999999999999999', 10, { first: 2, last: 9 }],
    ['bytes=-3', 10, { first: 7, last: 9 }],
    ['bytes=-30', 10, { first: 0, last: 9 }],
    ['BYTES= 0-9\t', 10, { first: 0, last: 9 }],
    ['bytes=10-', 10, 'outside'],
    ['bytes=99999999999999999999-', 10, 'outside'],
    ['bytes=0-', 0, 'outside'],
    ['bytes=-0', 10, 'outside'],
    ['bytes=-1', 0, undefined],
  ])('%s of %i bytes is %j', (header, size, range) => {
    expect(rangeOf(header, size)).toEqual(range);
  });

  it.each([undefined, '', 'bytes=', 'bytes=-', 'bytes=5-2', 'bytes=0-1,3-4', 'lines=0-1', 'bytes 0-1', 'bytes=a-b'])(
    '%s is ignored',
    (header) => {
      expect(rangeOf(header, 10)).toBeUndefined();
    },
  );

  it.each([
    ['bytes=10-', 10],
    ['bytes=0-', 0],
    ['bytes=10-11', undefined],
    ['bytes=-3', undefined],
    [undefined, undefined],
  ])('%s is open from %s', (header, start) => {
    expect(openRangeStart(header)).toBe(start);
  });
});

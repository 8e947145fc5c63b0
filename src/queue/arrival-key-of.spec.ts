import { describe, expect, it } from '@jest/globals';
import { arrivalKeyOf } from './arrival-key-of.js';

describe('where a cursor positions in the order of arrival', () => {
  it.each([
    ['2026-11-29 23:59:59.123456+00', 1_795_996_799_123_456],
    ['1970-01-01 00:00:00+00', 0],
    ['1970-01-01 00:00:01.5+00', 1_500_000],
    ['1970-01-01 00:00:01.000001+00', 1_000_001],
    ['1969-12-31 23:59:59.25+00', -750_000],
  ])('%s is %d microseconds', (created_at, arrived) => {
    expect(arrivalKeyOf({ created_at, seq: '7' })).toEqual({ arrived, seq: 7 });
  });
});

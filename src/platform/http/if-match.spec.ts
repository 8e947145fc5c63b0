import { describe, expect, it } from '@jest/globals';
import { quickest } from '../../domain/quickest.fixture.js';
import { isMatch, readIfMatch } from './if-match.js';
import { Problem } from './problem.js';

describe('If-Match', () => {
  it.each([
    ['"3"', ['"3"']],
    ['  "3"\t', ['"3"']],
    ['"1", "3","5"', ['"1"', '"3"', '"5"']],
    [',"1",, "3" ,', ['"1"', '"3"']],
    ['""', ['""']],
    ['"a,b", "\xe9"', ['"a,b"', '"\xe9"']],
    ['W/"3"', []],
    ['W/"3", "4"', ['"4"']],
  ])('%s names %j', (header, tags) => {
    expect(readIfMatch(header)).toEqual(new Set(tags));
  });

  it.each(['*', ' * '])('%j names any', (header) => {
    expect(readIfMatch(header)).toBe('any');
  });

  it.each(['', ',', '3', '"3', '3"', '"3" "4"', '*, "3"', '"3", *', '"3";', 'w/"3"', 'W/ "3"', '"a b"', "'3'", '**'])(
    '%j is malformed',
    (header) => {
      expect(() => readIfMatch(header)).toThrow(expect.objectContaining({ code: 'invalid_request' }));
    },
  );

  it.each([' ,', ' ', '\t', ', ', '"', '"3",'])('is judged as fast as it is long, also with many %j', (much) => {
    const long = `"1"${much.repeat(16_000 / much.length)}`;
    const judge = (): void => expect(() => readIfMatch(`${long};`)).toThrow(Problem);
    expect(quickest(judge)).toBeLessThan(100);
  });

  it('lets pass what names the version, and whatever comes without it', () => {
    const passing = [undefined, '*', '"3"', '"2", "3"'];
    const refused = ['"2"', 'W/"3"', '"03"', '"30", ""'];
    expect(passing.filter((header) => !isMatch(readIfMatch(header), 3))).toEqual([]);
    expect(refused.filter((header) => isMatch(readIfMatch(header), 3))).toEqual([]);
  });
});

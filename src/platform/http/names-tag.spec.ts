import { describe, expect, it } from '@jest/globals';
import { namesTag } from './if-match.js';

describe('If-None-Match', () => {
  it.each(['"a"', 'W/"a"', '"b", "a"', '"b",W/"a"', '*', ' * '])('%s names "a"', (header) => {
    expect(namesTag(header, '"a"')).toBe(true);
  });

  it.each([undefined, '', '"b"', 'a', '"A"', '"b, a"'])('%s does not', (header) => {
    expect(namesTag(header, '"a"')).toBe(false);
  });
});

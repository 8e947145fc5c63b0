import { describe, expect, it } from '@jest/globals';
import { HEAD_BYTES, isText, textHead } from './show-inbox.js';

describe('what a question shows of a text', () => {
  it.each([
    ['text/plain', true],
    ['Text/Markdown; charset=utf-8', true],
    ['application/json', true],
    ['application/json ;charset=utf-8', true],
    ['application/ld+json', true],
    ['application/jsonl', false],
    ['image/png', false],
    ['application/octet-stream', false],
    ['application/octet-stream; note=text/plain', false],
  ])('%s: %s', (mediaType, expected) => expect(isText(mediaType)).toBe(expected));

  it.each([
    ['é', 2],
    ['€', 3],
    ['😀', 4],
  ])('a cut inside %s leaves the whole characters before it', (character, bytes) => {
    for (let inside = 1; inside < bytes; inside++) {
      const text = 'x'.repeat(HEAD_BYTES - inside) + character;
      const all = Buffer.from(text);
      expect(textHead(all.subarray(0, HEAD_BYTES), all.length)).toBe('x'.repeat(HEAD_BYTES - inside));
    }
    const whole = Buffer.from(character.repeat(3));
    expect(textHead(whole, whole.length)).toBe(character.repeat(3));
  });

  it('bytes that are no UTF-8 are not shown, in the middle or at the end of all there is', () => {
    expect(textHead(Buffer.from([0x61, 0xff, 0x62]), 3)).toBeUndefined();
    expect(textHead(Buffer.from([0x61, 0xe2, 0x82]), 3)).toBeUndefined();
    expect(textHead(Buffer.from([0x61, 0xe2, 0x82]), 4)).toBe('a');
    expect(textHead(Buffer.alloc(0), 0)).toBe('');
  });
});

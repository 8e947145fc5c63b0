import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { cutMarker, logAppend } from './log-append.js';

const LIMIT = 40;

/** Sends chunks of one text, each at its offset, in any order and any number of times, to a log that takes them as `logAppend` says. */
function send(text: Buffer, chunks: [number, number][]): { log: Buffer; cut: boolean } {
  let log = Buffer.alloc(0);
  let cut = false;
  for (const [from, to] of chunks) {
    const appended = logAppend({ size: log.length, cut }, from, text.subarray(from, to), LIMIT);
    if (appended === undefined) {
      expect(from).toBeGreaterThan(log.length);
      continue;
    }
    expect(cut && appended.bytes.length > 0).toBe(false);
    log = Buffer.concat([log, appended.bytes]);
    cut = appended.cut;
  }
  return { log, cut };
}

describe('what becomes of a chunk of a log', () => {
  it('the log is always a beginning of the text, whatever was lost and repeated', () => {
    const range = fc.tuple(fc.nat(60), fc.nat(30)).map(([from, length]): [number, number] => [from, from + length]);
    fc.assert(
      fc.property(fc.string({ unit: 'grapheme', maxLength: 30 }), fc.array(range), (words, chunks) => {
        const text = Buffer.from(words);
        const { log, cut } = send(text, chunks);
        const marker = Buffer.from(cutMarker(LIMIT));
        const kept = cut ? log.subarray(0, log.length - marker.length) : log;
        expect(text.subarray(0, kept.length).equals(kept)).toBe(true);
        expect(kept.length).toBeLessThanOrEqual(LIMIT);
        expect(cut).toBe(log.includes(marker));
      }),
    );
  });

  it.each([
    ['at its end', undefined, 'cd', 'cd'],
    ['where it belongs', 3, 'de', 'de'],
    ['that overlaps', 1, 'bcde', 'de'],
    ['that is there already', 0, 'abc', ''],
    ['that is a part of what is there', 1, 'b', ''],
  ])('one %s', (_what, offset, chunk, bytes) => {
    const appended = logAppend({ size: 3, cut: false }, offset, Buffer.from(chunk), LIMIT);
    expect(appended).toEqual({ bytes: Buffer.from(bytes), cut: false });
  });

  it('one beyond the end is none', () => {
    expect(logAppend({ size: 3, cut: false }, 4, Buffer.from('x'), LIMIT)).toBeUndefined();
  });

  it('a log that is full is cut by the first byte more, in front of the character that does not fit', () => {
    expect(logAppend({ size: LIMIT, cut: false }, LIMIT, Buffer.alloc(0), LIMIT)).toMatchObject({ cut: false });
    expect(logAppend({ size: LIMIT, cut: false }, LIMIT, Buffer.from('x'), LIMIT)).toEqual({
      bytes: Buffer.from(cutMarker(LIMIT)),
      cut: true,
    });
    for (const character of ['é', '€', '😀']) {
      const appended = logAppend({ size: LIMIT - 2, cut: false }, undefined, Buffer.from(`x${character}`), LIMIT);
      expect(appended).toEqual({ bytes: Buffer.from(`x${cutMarker(LIMIT)}`), cut: true });
    }
  });
});

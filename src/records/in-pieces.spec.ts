import { Readable } from 'node:stream';
import { describe, expect, it } from '@jest/globals';
import { inPieces } from './in-pieces.js';

const body = Buffer.from(Array.from({ length: 1_000_000 }, (_, at) => at % 251));

describe('a body in pieces', () => {
  it.each([
    [0, 1_000_000],
    [1, 999_999],
    [262_143, 262_145],
    [5, 5],
  ])('from %i to %i is these bytes', async (first, end) => {
    const pieces: Uint8Array[] = [];
    for await (const piece of inPieces(first, end, async (from, to) => body.subarray(from, to))) pieces.push(piece);
    expect(Buffer.concat(pieces).equals(body.subarray(first, end))).toBe(true);
  });

  it('reads no further than its reader is', async () => {
    let reads = 0;
    const pieces = inPieces(0, 1e12, async (from, to) => {
      reads += 1;
      return new Uint8Array(to - from);
    });
    const stream = Readable.from(pieces, { objectMode: false });
    const reader = stream[Symbol.asyncIterator]();
    await reader.next();
    for (let turn = 0; turn < 100; turn++) await new Promise(setImmediate);
    expect(reads).toBeLessThanOrEqual(3);
    stream.destroy();
  });

  it('breaks off where bytes are missing', async () => {
    const pieces = inPieces(0, 10, async () => new Uint8Array(9));
    await expect(pieces.next()).rejects.toThrow('from 0 to 10 are not there');
  });
});

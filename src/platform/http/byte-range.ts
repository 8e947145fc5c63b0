/** The bytes that a request asks for, both ends included. */
export interface ByteRange {
  first: number;
  last: number;
}

const SINGLE = /^bytes=[ \t]*(?:(\d+)-(\d*)|-(\d+))[ \t]*$/i;

/**
 * What the header Range means for so many bytes (RFC 9110, 14.2). Undefined: all of them, since there is no such header,
 * or one that is to be ignored: another unit, several ranges, ends that are the wrong way round.
 */
export function rangeOf(header: string | undefined, size: number): ByteRange | 'outside' | undefined {
  const [, from, to, tail] = SINGLE.exec(header ?? '') ?? [];
  if (tail !== undefined) {
    if (Number(tail) === 0) return 'outside';
    return size === 0 ? undefined : { first: Math.max(0, size - Number(tail)), last: size - 1 };
  }
  if (from === undefined) return undefined;
  const [first, last] = [Number(from), to ? Number(to) : Infinity];
  if (last < first) return undefined;
  return first >= size ? 'outside' : { first, last: Math.min(last, size - 1) };
}

/** Where a range begins that has no end, `bytes=100-`: whoever sends it wants whatever comes. */
export function openRangeStart(header: string | undefined): number | undefined {
  const [, from, to] = SINGLE.exec(header ?? '') ?? [];
  return from === undefined || to ? undefined : Number(from);
}

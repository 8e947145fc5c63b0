import type { Place } from '../domain/sweep/queue-line.js';
import type { Keyset } from '../platform/http/cursor.js';

/** The place that a cursor names, in the numbers that the queue is kept by. */
export function placeOf({ created_at, seq }: Keyset): Place {
  const [, time, fraction = ''] = /^(.*?)(?:\.(\d+))?\+00$/.exec(created_at)!;
  const seconds = Date.parse(`${time!.replace(' ', 'T')}Z`) / 1000;
  return { arrived: seconds * 1_000_000 + Number(fraction.padEnd(6, '0')), seq: Number(seq) };
}

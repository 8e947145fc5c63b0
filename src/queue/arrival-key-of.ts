import type { ArrivalKey } from '../domain/sweep/runs-in-order.js';
import type { Keyset } from '../platform/http/cursor.js';

/** Where a cursor positions in the order of arrival, in the numbers that the queue is kept by. */
export function arrivalKeyOf({ created_at, seq }: Keyset): ArrivalKey {
  const [, time, fraction = ''] = /^(.*?)(?:\.(\d+))?\+00$/.exec(created_at)!;
  const seconds = Date.parse(`${time!.replace(' ', 'T')}Z`) / 1000;
  return { arrived: seconds * 1_000_000 + Number(fraction.padEnd(6, '0')), seq: Number(seq) };
}

import type { ProblemCode } from '../../domain/problem-codes.js';
import type { HeaderTexts } from './api-answer.decorator.js';
import { sharedHeader } from './shared-headers.js';

/** Headers by the code of the refusal that carries them. */
export type ByCode = Partial<Record<ProblemCode, HeaderTexts>>;

/** Headers that a refusal carries whenever it is of this code. */
const OF_CODES: ByCode = {
  unauthenticated: { 'WWW-Authenticate': sharedHeader('Authenticate') },
  rate_limited: { 'Retry-After': sharedHeader('RetryAfter') },
  unavailable: { 'Retry-After': sharedHeader('RetryAfter') },
  offset_gap: { 'Upload-Offset': 'With `offset_gap`: the size of the log, in bytes.' },
  range_not_satisfiable: { 'Content-Range': '`bytes */<size>`: how many bytes there are.' },
};

/** The headers of a status that is answered with any of these codes: what not all of them carry comes sometimes. */
export function problemHeaders(
  codes: ProblemCode[],
  more: ByCode,
): { always: HeaderTexts; sometimes: Record<string, string> } {
  const each = codes.map((code): HeaderTexts => ({ ...OF_CODES[code], ...more[code] }));
  const always: HeaderTexts = {};
  const sometimes: Record<string, string> = {};
  for (const [name, says] of each.flatMap((headers) => Object.entries(headers))) {
    if (each.every((headers) => name in headers)) always[name] = says;
    else if (typeof says === 'string') sometimes[name] = says;
  }
  return { always, sometimes };
}

import type { Fault, FaultList } from '../../domain/json/fault-list.js';
import { type ProblemCode, PROBLEMS } from '../../domain/problem-codes.js';
import type { HeaderTexts } from './api-answer.decorator.js';
import { sharedHeader } from './shared-headers.js';

export interface ProblemExtras {
  errors?: Fault[];
  headers?: Record<string, string>;
  /** Further members of the body, such as `run_id`. */
  members?: Record<string, unknown>;
}

/** A refusal, thrown from anywhere above the domain and answered as application/problem+json (RFC 9457). */
export class Problem extends Error {
  constructor(
    readonly code: ProblemCode,
    readonly detail: string,
    readonly extras: ProblemExtras = {},
  ) {
    super(`${code}: ${detail}`);
  }

  get status(): number {
    return PROBLEMS[this.code].status;
  }
}

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

const NAMED = 3;

/** Throws invalid_request with every fault of a body; nothing where it has none. */
export function refuseFaults(faults: FaultList, what = 'the body'): void {
  if (!faults.empty) throw faulty(faults.list(), what);
}

/** invalid_request for faults of a body or a query: the first are said in the sentence, all are listed. */
export function faulty(faults: readonly Fault[], what: string): Problem {
  const named = faults.slice(0, NAMED).map(({ pointer, detail }) => said(pointer || what, detail));
  const more = faults.length > NAMED ? `; and more, see errors` : '';
  return new Problem('invalid_request', named.join('; ') + more || `${what} is not valid`, { errors: [...faults] });
}

/** A fault is a predicate whose subject is the place ("must be …"), or a sentence of its own. */
function said(place: string, detail: string): string {
  return /^[A-Z]/.test(detail) ? `${place}: ${detail.replace(/\.$/, '')}` : `${place} ${detail}`;
}

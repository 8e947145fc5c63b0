import type { Fault } from '../../domain/contract/contract.js';
import { pointerTo } from '../../domain/contract/document/pointer.js';
import { isWellFormed } from '../../domain/contract/document/well-formed.js';

const MAX_DEPTH = 200;

/** What turns a value into an object of a class would take these for what JavaScript means by them. */
const TAKEN = ['__proto__', 'constructor'];

/**
 * What nothing in a request may hold: text with NUL or half a surrogate pair, a key named __proto__ or constructor,
 * a number beyond what a double holds (it would be stored as null), nesting deeper than 200. Gives the first fault. (A
 * contract is judged by its own parser, which finds all of them.) What never becomes an object of a class may have any key.
 */
export function malformed(
  value: unknown,
  taken: readonly string[] = TAKEN,
  pointer = '',
  depth = 0,
): Fault | undefined {
  if (typeof value === 'string') {
    return isWellFormed(value) ? undefined : { pointer, detail: 'must be well-formed Unicode without NUL' };
  }
  if (typeof value === 'number' && !Number.isFinite(value))
    return { pointer, detail: 'must be a number a double holds' };
  if (typeof value !== 'object' || value === null) return undefined;
  if (depth >= MAX_DEPTH) return { pointer, detail: `must not be nested deeper than ${MAX_DEPTH} levels` };
  for (const [key, inner] of Object.entries(value)) {
    if (taken.includes(key)) return { pointer, detail: `must not have a key named ${key}` };
    if (!isWellFormed(key)) return { pointer, detail: 'must have keys of well-formed Unicode without NUL' };
    const fault = malformed(inner, taken, pointerTo(pointer, key), depth + 1);
    if (fault) return fault;
  }
  return undefined;
}

import { Problem } from '../platform/http/problem.js';

/** The number of a step as a path names it. A path that names no step is a step that is not there. */
export function stepSeq(given: string): number {
  if (!/^[1-9]\d{0,8}$/.test(given)) {
    throw new Problem('not_found', `a step is named by its number, from 1; ${given} is none`);
  }
  return Number(given);
}

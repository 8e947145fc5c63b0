import type { Fault } from '../../domain/contract/contract.js';
import { type ProblemCode, PROBLEMS } from '../../domain/problem-codes.js';

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

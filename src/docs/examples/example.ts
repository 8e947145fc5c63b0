import type { ProblemCode } from '../../domain/problem-codes.js';

/** Examples by a name of their own; the summary is what a reader chooses by. */
export type Examples = Record<string, { summary: string; value: unknown }>;

export interface ProblemDetail {
  detail: string;
  errors?: { pointer: string; detail: string }[];
  run_id?: string;
  principal?: string;
}

/** The examples of one operation. They are plain data: the classes they must fit lie in other rooms, and a test compares. */
export interface OperationExamples {
  /** Where the general example of a parameter would not fit this operation. */
  parameters?: Record<string, unknown>;
  request?: Examples;
  /** By status. */
  answers?: Record<number, Examples>;
  /** Where the general example of a problem would not fit this operation. */
  problems?: Partial<Record<ProblemCode, ProblemDetail>>;
}

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

/**
 * An example of each parameter that must be given or narrows an answer, by its name. What one operation answers is what
 * another is asked with. Of a header that may be left out there is none: a page to try the API out would send it along.
 */
export const PARAMETERS: Record<string, unknown> = {
  run_id: 'change-4711-ps3',
  node_id: 'rpi-7',
  seq: 1,
  code: 'not_sealed',
  from: '2026-03-02T09:00:00Z',
  to: '2026-03-02T10:00:00Z',
  state: 'QUEUED',
  work_id: 'gerrit:4711',
  principal: 'ci',
  limit: 50,
  cursor: 'MjAyNi0wMy0wMiAwOToxNTowNC4xMjAzNDErMDB8NDI',
  all: true,
  wait: 30,
  name: 'image',
  attempt: 1,
  offset: 4096,
};

import { type ProblemCode, PROBLEMS } from '../domain/problem-codes.js';
import type { ProblemDetail } from './examples/example.js';
import { PROBLEM_DETAILS, REQUEST_ID } from './examples/problem-details.js';

const INSTANCE = '/v1/runs/change-4711-ps3';

/** A problem of this code as it is answered. */
export function problemExample(code: ProblemCode, { detail, ...more }: ProblemDetail, instance: string): object {
  const { title, status } = PROBLEMS[code];
  return { type: `/problems/${code}`, title, status, detail, instance, code, request_id: REQUEST_ID, ...more };
}

/** `NotFound` of `not_found`. */
export function nameOf(code: string): string {
  return code.replace(/(?:^|_)([a-z])/g, (_all, letter: string) => letter.toUpperCase());
}

/** The reference to the example of this code that many operations share. */
export function generalExample(code: ProblemCode): string {
  return `#/components/examples/${nameOf(code)}`;
}

/** The examples of problems that operations share, by name: of these codes. */
export function sharedExamples(codes: ProblemCode[]): Record<string, { summary: string; value: unknown }> {
  return Object.fromEntries(
    codes.map((code) => [
      nameOf(code),
      { summary: PROBLEMS[code].title, value: problemExample(code, PROBLEM_DETAILS[code], INSTANCE) },
    ]),
  );
}

import { applyDecorators } from '@nestjs/common';
import { ApiExtraModels, ApiResponse } from '@nestjs/swagger';
import { type ProblemCode, PROBLEMS } from '../../domain/problem-codes.js';
import { describedHeaders } from './api-answer.decorator.js';
import { schemaRef } from './api-model.decorator.js';
import { ProblemDto } from './problem.dto.js';
import { type ByCode, problemHeaders } from './problem.js';

/** What any operation can answer: a path, query or header that is not well-formed, and a fault of the server. */
const EVERYWHERE: ProblemCode[] = ['invalid_request', 'internal'];

/** What every operation answers that needs a token. */
const SPEAKING: ProblemCode[] = ['unauthenticated', 'forbidden', 'rate_limited'];

/**
 * The codes with which an operation refuses, besides those that any can answer which needs a token; each becomes an
 * example of its status.
 */
export function ApiProblems(...codes: ProblemCode[]): MethodDecorator {
  return refusals([...codes, ...SPEAKING]);
}

/** The same, where the refusals of some of them carry further headers. */
export function ApiProblemsWith(headers: ByCode, ...codes: ProblemCode[]): MethodDecorator {
  return refusals([...codes, ...SPEAKING], headers);
}

/** The same, of an operation that anybody may call. */
export function ApiProblemsToAnybody(...codes: ProblemCode[]): MethodDecorator {
  return refusals(codes);
}

function refusals(codes: ProblemCode[], headers: ByCode = {}): MethodDecorator {
  const all = [...new Set([...codes, ...EVERYWHERE])];
  const statuses = [...new Set(all.map((code) => PROBLEMS[code].status))].sort();
  const answers = statuses.map((status) =>
    answer(
      status,
      all.filter((code) => PROBLEMS[code].status === status),
      headers,
    ),
  );
  return applyDecorators(ApiExtraModels(ProblemDto), ...answers);
}

function answer(status: number, codes: ProblemCode[], headers: ByCode): MethodDecorator {
  const { always, sometimes } = problemHeaders(codes, headers);
  return ApiResponse({
    status,
    description: codes.map((code) => `\`${code}\`: ${PROBLEMS[code].caller}`).join('\n\n'),
    headers: describedHeaders(always, sometimes),
    content: {
      'application/problem+json': {
        schema: schemaRef('Problem'),
        examples: Object.fromEntries(codes.map((code) => [code, { summary: PROBLEMS[code].title }])),
      },
    },
  });
}

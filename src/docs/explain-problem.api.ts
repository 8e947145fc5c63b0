import { applyDecorators } from '@nestjs/common';
import { ApiOperation, ApiParam } from '@nestjs/swagger';
import { PROBLEMS } from '../domain/problem-codes.js';
import { ApiAnswer } from '../platform/http/api-answer.decorator.js';
import { ApiProblemsToAnybody } from '../platform/http/api-problems.decorator.js';
import { ProblemPageDto } from './docs.dto.js';

export function ExplainProblemApi(): MethodDecorator {
  return applyDecorators(
    ApiOperation({
      operationId: 'explainProblem',
      description: 'Where the `type` of a problem leads. JSON, whatever is asked for.',
    }),
    ApiParam({
      name: 'code',
      description: 'The `code` of the problem.',
      enum: Object.keys(PROBLEMS),
      enumName: 'ProblemCode',
    }),
    ApiAnswer(200, 'What it means.', { type: ProblemPageDto }),
    ApiProblemsToAnybody('not_found'),
  );
}

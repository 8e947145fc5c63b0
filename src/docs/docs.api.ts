import { applyDecorators } from '@nestjs/common';
import { ApiOperation, ApiExtraModels, ApiParam } from '@nestjs/swagger';
import { PROBLEMS } from '../domain/problem-codes.js';
import { ApiAnswer } from '../platform/http/api-answer.decorator.js';
import { schemaRef } from '../platform/http/api-model.decorator.js';
import { ApiProblemsToAnybody } from '../platform/http/api-problems.decorator.js';
import { ServerInfoDto, ProblemPageDto } from './docs.dto.js';

export function GetServerInfoApi(): MethodDecorator {
  return applyDecorators(
    ApiOperation({ operationId: 'getServerInfo', description: 'A place to begin, also while the server is starting.' }),
    ApiAnswer(200, 'What this is.', { type: ServerInfoDto }),
    ApiProblemsToAnybody(),
  );
}

export function ExplainProblemApi(): MethodDecorator {
  return applyDecorators(
    ApiOperation({
      operationId: 'explainProblem',
      description: 'Where the `type` of a problem leads: JSON, or a page for who asks for one (`Accept: text/html`).',
    }),
    ApiParam({
      name: 'code',
      description: 'The `code` of the problem.',
      enum: Object.keys(PROBLEMS),
      enumName: 'ProblemCode',
    }),
    ApiExtraModels(ProblemPageDto),
    ApiAnswer(200, 'What it means.', {
      content: {
        'application/json': { schema: schemaRef('ProblemExplanation') },
        'text/html': { schema: { type: 'string' } },
      },
      headers: { Vary: '`Accept`.' },
    }),
    ApiProblemsToAnybody('not_found'),
  );
}

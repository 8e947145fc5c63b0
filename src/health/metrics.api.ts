import { applyDecorators } from '@nestjs/common';
import { ApiOperation } from '@nestjs/swagger';
import { ApiAnswer } from '../platform/http/api-answer.decorator.js';
import { ApiProblemsToAnybody } from '../platform/http/api-problems.decorator.js';

const description = `
Prometheus text; all names begin with \`mediator_\`. Figures that need the database are asked for at most once in 5 s, whoever
asks, and left out while it is away; it is waited for two seconds at most. Every server of one database tells the same of
them: take the \`max\`, not the \`sum\`. Safe to repeat.
`.trim();

export function MetricsApi(): MethodDecorator {
  return applyDecorators(
    ApiOperation({ operationId: 'metrics', description }),
    ApiAnswer(200, 'The figures.', { content: { 'text/plain': { schema: { type: 'string' } } } }),
    ApiProblemsToAnybody(),
  );
}

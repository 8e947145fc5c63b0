import { applyDecorators } from '@nestjs/common';
import { ApiOperation } from '@nestjs/swagger';
import { ApiAnswer } from '../platform/http/api-answer.decorator.js';
import { ApiProblemsToAnybody } from '../platform/http/api-problems.decorator.js';

const description = `
Prometheus text; all names begin with \`mediator_\`. Figures that need the database are left out while it is away; it is waited
for two seconds at most. Safe to repeat.
`.trim();

export function MetricsApi(): MethodDecorator {
  return applyDecorators(
    ApiOperation({ operationId: 'metrics', description }),
    ApiAnswer(200, 'The figures.', { content: { 'text/plain': { schema: { type: 'string' } } } }),
    ApiProblemsToAnybody(),
  );
}

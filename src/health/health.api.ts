import { applyDecorators } from '@nestjs/common';
import { ApiOperation } from '@nestjs/swagger';
import { ApiAnswer } from '../platform/http/api-answer.decorator.js';
import { ApiProblemsToAnybody } from '../platform/http/api-problems.decorator.js';
import { LivenessDto, HealthReportDto } from './health.dto.js';

export function LivezApi(): MethodDecorator {
  return applyDecorators(
    ApiOperation({
      operationId: 'livez',
      description: 'For a supervisor that restarts what hangs. It knows nothing of the database. Safe to repeat.',
    }),
    ApiAnswer(200, 'The process turns.', { type: LivenessDto }),
    ApiProblemsToAnybody(),
  );
}

const READYZ = `
For whoever sends requests here: 200 when the database answers and takes writes, the start is done and the server has not been told
to stop: it may linger then, and serve everything for a while. The 503 has the same report and is no problem document. It waits at most two seconds for the database. Safe to repeat.
`.trim();

export function ReadyzApi(): MethodDecorator {
  return applyDecorators(
    ApiOperation({ operationId: 'readyz', description: READYZ }),
    ApiAnswer(200, 'It takes requests.', { type: HealthReportDto }),
    ApiAnswer(503, 'It does not now; `error` says why.', { type: HealthReportDto }),
    ApiProblemsToAnybody(),
  );
}

const METRICS = `
Prometheus text; all names begin with \`mediator_\`. Figures that need the database are asked for at most once in 5 s, whoever
asks, and left out while it is away; it is waited for two seconds at most. Every server of one database tells the same of
them: take the \`max\`, not the \`sum\`. Safe to repeat.
`.trim();

export function MetricsApi(): MethodDecorator {
  return applyDecorators(
    ApiOperation({ operationId: 'metrics', description: METRICS }),
    ApiAnswer(200, 'The figures.', { content: { 'text/plain': { schema: { type: 'string' } } } }),
    ApiProblemsToAnybody(),
  );
}

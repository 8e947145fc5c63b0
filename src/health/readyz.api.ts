import { applyDecorators } from '@nestjs/common';
import { ApiOperation } from '@nestjs/swagger';
import { ApiAnswer } from '../platform/http/api-answer.decorator.js';
import { ApiProblemsToAnybody } from '../platform/http/api-problems.decorator.js';
import { HealthReportDto } from './health.dto.js';

const description = `
For whoever sends requests here: 200 when the database answers and takes writes, the start is done and the server has not been told
to stop: it may linger then, and serve everything for a while. The 503 has the same report and is no problem document. It waits at most two seconds for the database. Safe to repeat.
`.trim();

export function ReadyzApi(): MethodDecorator {
  return applyDecorators(
    ApiOperation({ operationId: 'readyz', description }),
    ApiAnswer(200, 'It takes requests.', { type: HealthReportDto }),
    ApiAnswer(503, 'It does not now; `error` says why.', { type: HealthReportDto }),
    ApiProblemsToAnybody(),
  );
}

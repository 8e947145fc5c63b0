import { applyDecorators } from '@nestjs/common';
import { ApiHeader, ApiOperation } from '@nestjs/swagger';
import { ApiAnswer } from '../platform/http/api-answer.decorator.js';
import { ApiProblems } from '../platform/http/api-problems.decorator.js';
import { ApiRunId } from '../platform/http/api-run-id.decorator.js';
import { RunDto } from './run.dto.js';

const description = `
The run with its steps, as it is now. While it is QUEUED, \`waiting\` says why and who holds the nodes; when it is over,
\`verdict\` says why it ended as it did.

Safe to repeat. It answers at once.
`.trim();

export function GetRunApi(): MethodDecorator {
  return applyDecorators(
    ApiOperation({ operationId: 'getRun', description }),
    ApiRunId(),
    ApiHeader({
      name: 'If-None-Match',
      required: false,
      description: 'The ETag of what the caller has, such as `"3"`: 304 where the run has not changed since.',
      schema: { type: 'string' },
    }),
    ApiAnswer(200, 'The run.', { type: RunDto, headers: { ETag: 'The `version` of the run, in quotes.' } }),
    ApiAnswer(304, 'The caller has it.', { headers: { ETag: 'The `version` of the run, in quotes.' } }),
    ApiProblems('not_found', 'unavailable'),
  );
}

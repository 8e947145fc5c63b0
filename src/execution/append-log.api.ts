import { applyDecorators } from '@nestjs/common';
import { ApiBody, ApiConsumes, ApiOperation } from '@nestjs/swagger';
import { ApiAnswer } from '../platform/http/api-answer.decorator.js';
import { ApiProblems } from '../platform/http/api-problems.decorator.js';
import { ApiRunId } from '../platform/http/api-run-id.decorator.js';
import { ApiSeq } from '../runs/api-seq.decorator.js';
import { RAW_TYPES } from '../platform/http/raw-body.js';
import { ApiLease } from './api-lease.decorator.js';

const description = `
Adds bytes to a log of a claimed step. With \`offset\` they belong there: those that the log has already are dropped, the rest is
added, and beyond its end it is 409 \`offset_gap\` with \`Upload-Offset\`. Without, they are added at the end. A body may be sent
for as long as the step takes; what has come is seen soon after. After a pause of a minute the connection is cut: go on by
the offset. A step has at most 64 different logs.

**Safe to repeat with \`offset\`**: after a broken connection send the same again. A log that grows over the limit ends with a
line that says so, and so does one of a run that may store no more; later bytes are taken and dropped, and \`Upload-Offset\` stays.
`.trim();

export function AppendLogApi(): MethodDecorator {
  return applyDecorators(
    ApiOperation({ operationId: 'appendLog', description }),
    ApiRunId(),
    ApiSeq(),
    ApiLease(),
    ApiConsumes(...RAW_TYPES),
    ApiBody({ description: 'Text, in UTF-8.', schema: { type: 'string', format: 'binary' } }),
    ApiAnswer(204, 'It was taken.', {
      headers: { 'Upload-Offset': 'The size of the log, in bytes.' },
    }),
    ApiProblems(
      'not_found',
      'run_over',
      'not_promised',
      'not_claimed',
      'stale_lease',
      'offset_gap',
      'too_large',
      'unavailable',
    ),
  );
}

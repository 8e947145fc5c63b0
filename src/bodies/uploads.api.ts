import { applyDecorators } from '@nestjs/common';
import { ApiBody, ApiConsumes, ApiOperation, ApiParam } from '@nestjs/swagger';
import { OUTPUT } from '../domain/contract/names.js';
import { ApiAnswer } from '../platform/http/api-answer.decorator.js';
import { ApiProblems } from '../platform/http/api-problems.decorator.js';
import { ApiLease } from '../platform/http/lease-header.js';
import { ApiRunId, ApiSeq } from '../platform/http/path-parameters.js';
import { RAW_TYPES } from '../platform/http/raw-body.js';

const UPLOAD_OUTPUT = `
Stores an output of a claimed step under a name that the step promises or no step does, whole or not at all: it is seen when the answer is 204. The media type is
kept, whatever it is; where none is sent, or one with \`*\` in it, it is \`application/octet-stream\`. Where the contract has a schema for the output, the body must be
JSON that fits it, whatever the media type. A step has at most 64 different outputs that no step promises, and a run stores
a bounded number of bytes in all. Where the run or the step ends meanwhile, the answer comes and the connection is closed.

**Safe to repeat**: a later upload of the same name in the same attempt replaces the earlier. After a broken connection send it
again, from the beginning. \`not_claimed\`, \`stale_lease\` and \`run_over\` mean: stop the work and claim.
`.trim();

export function UploadOutputApi(): MethodDecorator {
  return applyDecorators(
    ApiOperation({ operationId: 'uploadOutput', description: UPLOAD_OUTPUT }),
    ApiRunId(),
    ApiSeq(),
    ApiParam({ name: 'name', description: OUTPUT.says, schema: { type: 'string', minLength: 1, maxLength: 100 } }),
    ApiLease(),
    ApiConsumes(...RAW_TYPES),
    ApiBody({ description: 'The output, as it is.', schema: { type: 'string', format: 'binary' } }),
    ApiAnswer(204, 'It is stored.'),
    ApiProblems(
      'not_found',
      'run_over',
      'not_promised',
      'not_claimed',
      'stale_lease',
      'too_large',
      'schema_violation',
      'unavailable',
    ),
  );
}

const APPEND_LOG = `
Adds bytes to a log of a claimed step. With \`offset\` they belong there: those that the log has already are dropped, the rest is
added, and beyond its end it is 409 \`offset_gap\` with \`Upload-Offset\`. Without, they are added at the end. A body may be sent
for as long as the step takes; what has come is seen soon after. After a pause of a minute the connection is cut: go on by
the offset. A step has at most 64 different logs.

**Safe to repeat with \`offset\`**: after a broken connection send the same again. A log that grows over the limit ends with a
line that says so, and so does one of a run that may store no more; later bytes are taken and dropped, and \`Upload-Offset\` stays.
`.trim();

export function AppendLogApi(): MethodDecorator {
  return applyDecorators(
    ApiOperation({ operationId: 'appendLog', description: APPEND_LOG }),
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

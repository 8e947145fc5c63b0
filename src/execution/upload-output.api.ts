import { applyDecorators } from '@nestjs/common';
import { ApiBody, ApiConsumes, ApiOperation, ApiParam } from '@nestjs/swagger';
import { OUTPUT } from '../domain/contract/names.js';
import { ApiAnswer } from '../platform/http/api-answer.decorator.js';
import { ApiProblems } from '../platform/http/api-problems.decorator.js';
import { ApiRunId } from '../platform/http/api-run-id.decorator.js';
import { ApiSeq } from '../runs/api-seq.decorator.js';
import { RAW_TYPES } from '../platform/http/raw-body.js';
import { ApiLease } from './api-lease.decorator.js';

const description = `
Stores an output of a claimed step under a name that the step promises or no step does, whole or not at all: it is seen when the answer is 204. The media type is
kept, whatever it is; where none is sent, or one with \`*\` in it, it is \`application/octet-stream\`. Where the contract has a schema for the output, the body must be
JSON that fits it, whatever the media type. A step has at most 64 different outputs that no step promises, and a run stores
a bounded number of bytes in all. Where the run or the step ends meanwhile, the answer comes and the connection is closed.

**Safe to repeat**: a later upload of the same name in the same attempt replaces the earlier. After a broken connection send it
again, from the beginning. \`not_claimed\`, \`stale_lease\` and \`run_over\` mean: stop the work and claim.
`.trim();

export function UploadOutputApi(): MethodDecorator {
  return applyDecorators(
    ApiOperation({ operationId: 'uploadOutput', description }),
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

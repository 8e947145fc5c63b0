import { applyDecorators } from '@nestjs/common';
import { ApiBody, ApiOperation } from '@nestjs/swagger';
import { ApiAnswer } from '../platform/http/api-answer.decorator.js';
import { ApiIfMatch } from '../platform/http/if-match.js';
import { ApiPrincipal } from '../platform/http/api-principal.decorator.js';
import { ApiProblems } from '../platform/http/api-problems.decorator.js';
import { ApiRunId } from '../platform/http/api-run-id.decorator.js';
import { RunDto } from './run.dto.js';
import { CancelDto } from './runs-query.dto.js';

const description = `
Ends a run that is QUEUED or RUNNING: its steps are cancelled, its nodes are free, whoever waits for them is promoted within
this request, and its record is sealed. A node learns of it by its next advert, where the lease is missing.

**Safe to repeat**: a run that is over already stays as it is and is answered with 200 and the state it has. A cancel that
loses a race against the end of the run reports that end, so look at \`state\`.

With \`If-Match\` it cancels only what the caller has seen.

A submitter cancels what it has submitted itself, an operator anything.
`.trim();

export function CancelRunApi(): MethodDecorator {
  return applyDecorators(
    ApiOperation({ operationId: 'cancelRun', description }),
    ApiRunId(),
    ApiPrincipal(),
    ApiIfMatch(),
    ApiBody({ type: CancelDto, required: false, description: 'May be left out.' }),
    ApiAnswer(200, 'The run is over.', { type: RunDto, headers: { ETag: 'The `version` of the run, in quotes.' } }),
    ApiProblems('not_found', 'version_mismatch', 'too_large', 'unsupported_media_type', 'unavailable'),
  );
}

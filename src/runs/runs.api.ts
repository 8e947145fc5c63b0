import { applyDecorators } from '@nestjs/common';
import { ApiOperation, ApiHeader, ApiBody } from '@nestjs/swagger';
import { ApiAnswer } from '../platform/http/api-answer.decorator.js';
import { ApiProblems } from '../platform/http/api-problems.decorator.js';
import { NEXT_PAGE } from '../platform/http/cursor.js';
import { ApiIfMatch } from '../platform/http/if-match.js';
import { ApiRunId } from '../platform/http/path-parameters.js';
import { ApiPrincipal } from '../platform/http/principal.js';
import { RunListDto, RunDto } from './run.dto.js';
import { CancelDto } from './runs-query.dto.js';

const LIST_RUNS = `
A page of the runs that match every filter that is given, without their steps. \`next\` is the cursor of the following page
and null on the last one; the header \`Link\` leads there too.

With \`from\` and \`to\` those that existed in that time: that were there by its end, and had not ended by its beginning. With
both the same, those of a moment. The newest come first, by when they were created.

With \`node_id\` those that hold or held that node, with a time those that held it then: each once, the newest first by when
they were granted it last. A run that is granted the node again while the pages are read comes to the front.

Safe to repeat. It answers at once.
`.trim();

export function ListRunsApi(): MethodDecorator {
  return applyDecorators(
    ApiOperation({ operationId: 'listRuns', description: LIST_RUNS }),
    ApiAnswer(200, 'A page of runs.', {
      type: RunListDto,
      sometimes: { Link: NEXT_PAGE },
    }),
    ApiProblems('unavailable'),
  );
}

const GET_RUN = `
The run with its steps, as it is now. While it is QUEUED, \`waiting\` says why and who holds the nodes; when it is over,
\`verdict\` says why it ended as it did.

Safe to repeat. It answers at once.
`.trim();

export function GetRunApi(): MethodDecorator {
  return applyDecorators(
    ApiOperation({ operationId: 'getRun', description: GET_RUN }),
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

const CANCEL_RUN = `
Ends a run that is QUEUED or RUNNING: its steps are cancelled, its nodes are free, whoever waits for them is promoted within
this request, and its record is sealed. A node learns of it by its next advert, where the lease is missing.

**Safe to repeat**: a run that is over already stays as it is and is answered with 200 and the state it has. A cancel that
loses a race against the end of the run reports that end, so look at \`state\`.

With \`If-Match\` it cancels only what the caller has seen.

A submitter cancels what it has submitted itself, an operator anything.
`.trim();

export function CancelRunApi(): MethodDecorator {
  return applyDecorators(
    ApiOperation({ operationId: 'cancelRun', description: CANCEL_RUN }),
    ApiRunId(),
    ApiPrincipal(),
    ApiIfMatch(),
    ApiBody({ type: CancelDto, required: false, description: 'May be left out.' }),
    ApiAnswer(200, 'The run is over.', { type: RunDto, headers: { ETag: 'The `version` of the run, in quotes.' } }),
    ApiProblems('not_found', 'version_mismatch', 'too_large', 'unsupported_media_type', 'unavailable'),
  );
}

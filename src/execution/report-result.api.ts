import { applyDecorators } from '@nestjs/common';
import { ApiOperation } from '@nestjs/swagger';
import { ApiAnswer } from '../platform/http/api-answer.decorator.js';
import { ApiProblems } from '../platform/http/api-problems.decorator.js';
import { ApiRunId } from '../platform/http/api-run-id.decorator.js';
import { ApiSeq } from '../runs/api-seq.decorator.js';
import { ApiLease } from './api-lease.decorator.js';
import { StepOutcomeDto } from '../runs/step-outcome.dto.js';

const description = `
Ends a claimed step. With \`error\` it is FAILED; so is a \`run\` step whose exit code is not 0, unless it has \`allow_failure\`.
A step that FAILED ends the run at once; when every step has ended, the run is judged. What that frees is given to whoever
waits for it before the answer.

**Not changed by repeating**: the step has ended by then, so a second report is refused with 409 and changes nothing. After an
answer that was lost, a 409 \`not_claimed\` or \`stale_lease\` means: go on and claim. A late report of an old holder is refused
the same way.
`.trim();

export function ReportResultApi(): MethodDecorator {
  return applyDecorators(
    ApiOperation({ operationId: 'reportResult', description }),
    ApiRunId(),
    ApiSeq(),
    ApiLease(),
    ApiAnswer(200, 'The step has ended.', { type: StepOutcomeDto }),
    ApiProblems('not_found', 'not_claimed', 'stale_lease', 'too_large', 'unsupported_media_type', 'unavailable'),
  );
}

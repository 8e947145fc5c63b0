import { applyDecorators } from '@nestjs/common';
import { ApiHeader, ApiOperation } from '@nestjs/swagger';
import { ApiAnswer } from '../platform/http/api-answer.decorator.js';
import { ApiProblems } from '../platform/http/api-problems.decorator.js';
import { ApiLease } from '../platform/http/lease-header.js';
import { ApiNodeId, INSTANCE, ApiRunId, ApiSeq } from '../platform/http/path-parameters.js';
import { StepOutcomeDto } from '../runs/step-outcome.dto.js';
import { ClaimDto } from './claim.dto.js';

const CLAIM_STEP = `
Gives the node one step that is bound to it and ready, of the oldest run first. Where there is none it **waits** up to \`wait\`
seconds and answers as soon as there is one; then 204: ask again. While the server stops, it answers 204 at once.

**Safe to repeat by an instance**: the same instance gets the step it already holds, in the same attempt, since the answer
was lost. One instance holds one step at a time. Without \`Mediator-Instance\` a lost answer is a lost step, which ends with
its lease.

One claim of an instance waits: a second ends the first with 204. Of a node a bounded number waits, and the oldest is answered
204 to make room.

A node whose advert has expired gets no step, and waits: it has to advertise first. Where nothing of a run has begun when its
node falls silent, the run waits for another node; a claim whose answer was lost is no beginning, unless it is repeated.

A node that was forgotten gets 404 until it advertises; one that was never heard of waits for its advert like any other. An
instance that is not the one of the node's last advert gets 409 \`stale_instance\` and is to end.
`.trim();

export function ClaimStepApi(): MethodDecorator {
  return applyDecorators(
    ApiOperation({ operationId: 'claimStep', description: CLAIM_STEP }),
    ApiNodeId(),
    ApiHeader({
      name: 'Mediator-Instance',
      required: false,
      description:
        'The `instance` of the advert: which process of the node asks. At most 200 printable ASCII characters.',
      schema: { type: 'string', maxLength: 200, pattern: INSTANCE.source },
    }),
    ApiAnswer(200, 'A step to do.', { type: ClaimDto }),
    ApiAnswer(204, 'There was none as long as it waited.'),
    ApiProblems('not_found', 'stale_instance', 'too_large', 'unsupported_media_type', 'unavailable'),
  );
}

const REPORT_RESULT = `
Ends a claimed step. With \`error\` it is FAILED; so is a \`run\` step whose exit code is not 0, unless it has \`allow_failure\`.
A step that FAILED ends the run at once; when every step has ended, the run is judged. What that frees is given to whoever
waits for it before the answer.

**Not changed by repeating**: the step has ended by then, so a second report is refused with 409 and changes nothing. After an
answer that was lost, a 409 \`not_claimed\` or \`stale_lease\` means: go on and claim. A late report of an old holder is refused
the same way.
`.trim();

export function ReportResultApi(): MethodDecorator {
  return applyDecorators(
    ApiOperation({ operationId: 'reportResult', description: REPORT_RESULT }),
    ApiRunId(),
    ApiSeq(),
    ApiLease(),
    ApiAnswer(200, 'The step has ended.', { type: StepOutcomeDto }),
    ApiProblems('not_found', 'not_claimed', 'stale_lease', 'too_large', 'unsupported_media_type', 'unavailable'),
  );
}

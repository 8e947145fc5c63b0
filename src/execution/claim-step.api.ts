import { applyDecorators } from '@nestjs/common';
import { ApiHeader, ApiOperation } from '@nestjs/swagger';
import { ApiAnswer } from '../platform/http/api-answer.decorator.js';
import { ApiNodeId } from '../platform/http/api-node-id.decorator.js';
import { ApiProblems } from '../platform/http/api-problems.decorator.js';
import { INSTANCE } from '../platform/http/node-id.js';
import { ClaimDto } from './claim.dto.js';

const description = `
Gives the node one step that is bound to it and ready, of the oldest run first. Where there is none it **waits** up to \`wait\`
seconds and answers as soon as there is one; then 204: ask again. While the server stops, it answers 204 at once.

**Safe to repeat by an instance**: the same instance gets the step it already holds, in the same attempt, since the answer
was lost. One instance holds one step at a time. Without \`Mediator-Instance\` a lost answer is a lost step, which ends with
its lease.

One claim of an instance waits: a second ends the first with 204. Of a node a bounded number waits, and the oldest is answered
204 to make room.

An instance that is not the one of the node's last advert gets 409 \`stale_instance\` and is to end.
`.trim();

export function ClaimStepApi(): MethodDecorator {
  return applyDecorators(
    ApiOperation({ operationId: 'claimStep', description }),
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
    ApiProblems('stale_instance', 'too_large', 'unsupported_media_type', 'unavailable'),
  );
}

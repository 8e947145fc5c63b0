import { applyDecorators } from '@nestjs/common';
import { ApiBody, ApiOperation } from '@nestjs/swagger';
import { ApiAnswer } from '../platform/http/api-answer.decorator.js';
import { ApiProblems } from '../platform/http/api-problems.decorator.js';
import { ApiNodeId } from '../platform/http/path-parameters.js';
import { ApiPrincipal } from '../platform/http/principal.js';
import { HoldNodeDto } from './hold.dto.js';
import { NodeDto } from './node.dto.js';

const HOLD_NODE = `
Takes the node out of service, whatever its process says: the run that holds it goes on, and no other is given it until the
hold is lifted. The hold survives restarts of the node and of the server. A node that is not live can be held too.

The Mediator itself holds a node, as \`mediator\`, that ended too many runs in a row by its own doing: by a restart, by silence,
by an error that it reported or a step that it did not begin. An exit code is the work's, and counts for nothing.

Safe to repeat: the reason is replaced, and so is a hold of the Mediator's own. It answers at once.
`.trim();

export function HoldNodeApi(): MethodDecorator {
  return applyDecorators(
    ApiOperation({ operationId: 'holdNode', description: HOLD_NODE }),
    ApiNodeId(),
    ApiPrincipal(),
    ApiBody({ type: HoldNodeDto }),
    ApiAnswer(200, 'The node is held.', { type: NodeDto }),
    ApiProblems('not_found', 'too_large', 'unsupported_media_type', 'unavailable'),
  );
}

const LIFT_HOLD = `
Puts the node back into service; what it did before is held against it no more. Whoever waits for it is promoted before the answer, unless it drains, is busy, or is not live.

Safe to repeat: a node that is not held stays as it is.
`.trim();

export function LiftHoldApi(): MethodDecorator {
  return applyDecorators(
    ApiOperation({ operationId: 'liftHold', description: LIFT_HOLD }),
    ApiNodeId(),
    ApiPrincipal(),
    ApiAnswer(200, 'The node is not held.', { type: NodeDto }),
    ApiProblems('not_found', 'too_large', 'unavailable'),
  );
}

const FORGET_NODE = `
Forgets a node that is gone for good: it is in no list any more. Its history stays, and so does a person's hold. An advert brings the
node back.

A second call finds no such node (404). It answers at once.
`.trim();

export function ForgetNodeApi(): MethodDecorator {
  return applyDecorators(
    ApiOperation({ operationId: 'forgetNode', description: FORGET_NODE }),
    ApiNodeId(),
    ApiPrincipal(),
    ApiAnswer(204, 'The node is forgotten.'),
    ApiProblems('not_found', 'node_in_use', 'too_large', 'unavailable'),
  );
}

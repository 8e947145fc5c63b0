import { applyDecorators } from '@nestjs/common';
import { ApiHeader, ApiOperation } from '@nestjs/swagger';
import { ApiAnswer } from '../platform/http/api-answer.decorator.js';
import { ApiProblems } from '../platform/http/api-problems.decorator.js';
import { NEXT_PAGE } from '../platform/http/cursor.js';
import { ApiNodeId } from '../platform/http/path-parameters.js';
import { AdvertAnswerDto } from './advert.dto.js';
import { NodeDto, NodesDto, CapabilitiesDto } from './node.dto.js';

const ADVERTISE_NODE = `
A node says what it offers; this is its heartbeat too. The advert replaces the one before, so it is sent whole each time,
every \`renew_seconds\`. It also renews the leases of the node. A node that stays silent until \`expires_at\` is not live any
more, and the run that holds it ends when the lease is over.

\`leases\` in the answer is the whole list of what the node holds. **A lease that is missing is the notice that it is over**:
the node stops that work.

One process speaks for a node. A new \`instance\` supersedes the one before, and a step of it that is under way ends as
FAILED: it is never done a second time. An advert of an instance that was superseded is 409 \`stale_instance\`: its process is
to stop. The node's last 16 are known; one that was superseded before them counts as new.

With \`seq\` an advert that arrives behind a later one changes nothing. Only an advert without \`drain\` lifts a drain.

Safe to repeat. Whoever this advert lets go is promoted before the answer.
`.trim();

export function AdvertiseNodeApi(): MethodDecorator {
  return applyDecorators(
    ApiOperation({ operationId: 'advertiseNode', description: ADVERTISE_NODE }),
    ApiAnswer(200, 'The advert is stored.', { type: AdvertAnswerDto }),
    ApiProblems('stale_instance', 'too_large', 'unsupported_media_type', 'unavailable'),
  );
}

const LIST_NODES = `
The nodes that are live, by \`node_id\`, with what each offers, whether it drains or is held, and which run holds it: those
that every filter that is given lets through. With \`all=true\`, or \`state=silent\`, also those whose advert has expired.

With \`limit\` it is a page: \`next\` is the cursor of the following one and null on the last one; the header \`Link\` leads
there too. Without \`limit\` it is all of them.

Safe to repeat. It answers at once.
`.trim();

const NODES_TAG = 'Of what is shown, but for `observed_at`; a weak one.';

export function ListNodesApi(): MethodDecorator {
  return applyDecorators(
    ApiOperation({ operationId: 'listNodes', description: LIST_NODES }),
    ApiHeader({
      name: 'If-None-Match',
      required: false,
      description: 'The ETag of what the caller has: 304 where nothing that is shown has changed since.',
      schema: { type: 'string' },
    }),
    ApiAnswer(200, 'The nodes.', {
      type: NodesDto,
      headers: { ETag: NODES_TAG },
      sometimes: { Link: NEXT_PAGE },
    }),
    ApiAnswer(304, 'The caller has it.', { headers: { ETag: NODES_TAG }, sometimes: { Link: NEXT_PAGE } }),
    ApiProblems('unavailable'),
  );
}

const GET_NODE = `
The node with what it offers, whether it drains, and which run holds it; also where its advert has expired.

Safe to repeat. It answers at once.
`.trim();

export function GetNodeApi(): MethodDecorator {
  return applyDecorators(
    ApiOperation({ operationId: 'getNode', description: GET_NODE }),
    ApiNodeId(),
    ApiAnswer(200, 'The node.', { type: NodeDto }),
    ApiProblems('not_found', 'unavailable'),
  );
}

const LIST_CAPABILITIES = `
What a contract can ask for: each capability of the live nodes, how many nodes offer it, and which values each attribute has.
It tells what exists, not what is free.

Safe to repeat. It answers at once.
`.trim();

export function ListCapabilitiesApi(): MethodDecorator {
  return applyDecorators(
    ApiOperation({ operationId: 'listCapabilities', description: LIST_CAPABILITIES }),
    ApiAnswer(200, 'The capabilities.', { type: CapabilitiesDto }),
    ApiProblems('unavailable'),
  );
}

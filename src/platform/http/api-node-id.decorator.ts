import { ApiParam } from '@nestjs/swagger';
import { NODE_ID } from './node-id.js';

/** The path parameter `node_id`. */
export function ApiNodeId(): MethodDecorator {
  return ApiParam({
    name: 'node_id',
    description: 'The node, as it names itself in its adverts.',
    schema: { type: 'string', pattern: NODE_ID.source },
  });
}

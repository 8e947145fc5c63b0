import { ApiParam } from '@nestjs/swagger';
import { Problem } from './problem.js';

/** How nodes are named, wherever a request names one. */
export const NODE_ID = /^[A-Za-z0-9][A-Za-z0-9._-]{0,99}$/;
export const NODE_ID_RULE =
  'must be 1 to 100 characters from A-Z, a-z, 0-9, ".", "_" and "-", and begin with a letter or digit';

/** What a process of a node may call itself. */
export const INSTANCE = /^[\x20-\x7e]{0,200}$/;
export const INSTANCE_RULE = 'must be at most 200 printable ASCII characters';

/** The path parameter `node_id`. */
export function ApiNodeId(): MethodDecorator {
  return ApiParam({
    name: 'node_id',
    description: 'The node, as it names itself in its adverts.',
    schema: { type: 'string', pattern: NODE_ID.source },
  });
}

/** The path parameter `run_id`. */
export function ApiRunId(): MethodDecorator {
  return ApiParam({
    name: 'run_id',
    description: 'The run, by the id that its contract gave it or the server made.',
    schema: { type: 'string', minLength: 1, maxLength: 200 },
  });
}

/** The path parameter `seq`. */
export function ApiSeq(): MethodDecorator {
  return ApiParam({
    name: 'seq',
    description: 'The step, by its place in the contract, from 1.',
    schema: { type: 'integer', minimum: 1, maximum: 999_999_999 },
  });
}

/** The number of a step as a path names it. A path that names no step is a step that is not there. */
export function stepSeq(given: string): number {
  if (!/^[1-9]\d{0,8}$/.test(given)) {
    throw new Problem('not_found', `a step is named by its number, counted from 1; ${given} is not one`);
  }
  return Number(given);
}

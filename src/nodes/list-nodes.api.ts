import { applyDecorators } from '@nestjs/common';
import { ApiOperation } from '@nestjs/swagger';
import { ApiAnswer } from '../platform/http/api-answer.decorator.js';
import { ApiProblems } from '../platform/http/api-problems.decorator.js';
import { NodesDto } from './node.dto.js';

const description = `
Every node that is live, by \`node_id\`, with what it offers, whether it drains, and which run holds it. With \`all=true\` also
those whose advert has expired.

Safe to repeat. It answers at once.
`.trim();

export function ListNodesApi(): MethodDecorator {
  return applyDecorators(
    ApiOperation({ operationId: 'listNodes', description }),
    ApiAnswer(200, 'The nodes.', { type: NodesDto }),
    ApiProblems('unavailable'),
  );
}

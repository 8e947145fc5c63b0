import { applyDecorators } from '@nestjs/common';
import { ApiOperation } from '@nestjs/swagger';
import { ApiAnswer } from '../platform/http/api-answer.decorator.js';
import { ApiProblems } from '../platform/http/api-problems.decorator.js';
import { NEXT_PAGE } from '../platform/http/cursor.js';
import { QueueDto } from './waiting.dto.js';

const description = `
A page of the queue. For each run \`waiting\` says why it has not been given its nodes, asked of the same code that would
promote it, and who holds the nodes that it could take. A run that cannot go never blocks a later one that can.

Safe to repeat. It answers at once.
`.trim();

export function GetQueueApi(): MethodDecorator {
  return applyDecorators(
    ApiOperation({ operationId: 'getQueue', description }),
    ApiAnswer(200, 'A page of the queue.', {
      type: QueueDto,
      sometimes: { Link: NEXT_PAGE },
    }),
    ApiProblems('unavailable'),
  );
}

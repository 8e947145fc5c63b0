import { applyDecorators } from '@nestjs/common';
import { ApiOperation } from '@nestjs/swagger';
import { ApiAnswer } from '../platform/http/api-answer.decorator.js';
import { ApiProblems } from '../platform/http/api-problems.decorator.js';
import { CapabilitiesDto } from './node.dto.js';

const description = `
What a contract can ask for: each capability of the live nodes, how many nodes offer it, and which values each attribute has.
It tells what exists, not what is free.

Safe to repeat. It answers at once.
`.trim();

export function ListCapabilitiesApi(): MethodDecorator {
  return applyDecorators(
    ApiOperation({ operationId: 'listCapabilities', description }),
    ApiAnswer(200, 'The capabilities.', { type: CapabilitiesDto }),
    ApiProblems('unavailable'),
  );
}

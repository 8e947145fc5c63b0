import { applyDecorators } from '@nestjs/common';
import { ApiOperation } from '@nestjs/swagger';
import { ApiAnswer } from '../platform/http/api-answer.decorator.js';
import { ApiPrincipal } from '../platform/http/api-principal.decorator.js';
import { ApiProblems } from '../platform/http/api-problems.decorator.js';
import { AskListDto } from './ask.dto.js';

const description = `
A page of the questions that runs under way wait for, whoever is asked; \`can_answer\` says whether it is you. A run that is
QUEUED asks nothing. What the question shows is there as far as it was uploaded.

Safe to repeat. It answers at once.
`.trim();

export function ListAsksApi(): MethodDecorator {
  return applyDecorators(
    ApiOperation({ operationId: 'listAsks', description }),
    ApiPrincipal(),
    ApiAnswer(200, 'A page of open questions.', {
      type: AskListDto,
      sometimes: { Link: 'Where there is a next page: `<path>; rel="next"` (RFC 8288).' },
    }),
    ApiProblems('unavailable'),
  );
}

import { applyDecorators } from '@nestjs/common';
import { ApiOperation, ApiBody } from '@nestjs/swagger';
import { ANSWER } from '../domain/contract/step-parts.js';
import { ApiAnswer } from '../platform/http/api-answer.decorator.js';
import { ApiProblems } from '../platform/http/api-problems.decorator.js';
import { NEXT_PAGE } from '../platform/http/cursor.js';
import { ApiIfMatch } from '../platform/http/if-match.js';
import { ApiRunId, ApiSeq } from '../platform/http/path-parameters.js';
import { ApiPrincipal } from '../platform/http/principal.js';
import { StepOutcomeDto } from '../runs/step-outcome.dto.js';
import { AskListDto } from './ask.dto.js';

const LIST_ASKS = `
A page of the questions that runs under way wait for, whoever is asked; \`can_answer\` says whether it is you. A run that is
QUEUED asks nothing. What the question shows is there as far as it was uploaded.

Safe to repeat. It answers at once.
`.trim();

export function ListAsksApi(): MethodDecorator {
  return applyDecorators(
    ApiOperation({ operationId: 'listAsks', description: LIST_ASKS }),
    ApiPrincipal(),
    ApiAnswer(200, 'A page of open questions.', {
      type: AskListDto,
      sometimes: { Link: NEXT_PAGE },
    }),
    ApiProblems('unavailable'),
  );
}

const ANSWER_ASK = `
Answers the open question of a step. The body is the answer and becomes the output of the step; it must satisfy the schema
that the question came with. What follows from it (a branch, nodes given back, the end of the run) has happened when this
answers, and whoever waits for a node that it freed has it.

**Not changed by repeating**: the question is closed by then, so a second answer is refused with 409 \`not_asked\` and changes
nothing. The first of two counts; with \`If-Match\` an answer counts only while the run is as the caller has seen it. After any other refusal the question stays open.
`.trim();

export function AnswerAskApi(): MethodDecorator {
  return applyDecorators(
    ApiOperation({ operationId: 'answerAsk', description: ANSWER_ASK }),
    ApiRunId(),
    ApiSeq(),
    ApiPrincipal(),
    ApiIfMatch(),
    ApiBody({ required: true, description: 'The answer, at most 256 KiB.', schema: ANSWER.schema }),
    ApiAnswer(200, 'The question is answered.', { type: StepOutcomeDto }),
    ApiProblems(
      'not_answerer',
      'not_found',
      'not_asked',
      'version_mismatch',
      'too_large',
      'unsupported_media_type',
      'schema_violation',
      'unavailable',
    ),
  );
}

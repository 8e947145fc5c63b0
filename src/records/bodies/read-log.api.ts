import { applyDecorators } from '@nestjs/common';
import { ApiHeader, ApiOperation, ApiParam } from '@nestjs/swagger';
import { ApiAnswer } from '../../platform/http/api-answer.decorator.js';
import { ApiProblemsWith } from '../../platform/http/api-problems.decorator.js';
import { ApiRunId } from '../../platform/http/api-run-id.decorator.js';

const description = `
A log of the step as far as it has come, of the current attempt unless \`attempt\` names one; \`Mediator-Attempt\` says which.

**To follow it**, ask for what comes next, \`Range: bytes=<size you have>-\`, with \`Prefer: wait=N\` (at most 60 seconds) and
the \`attempt\` that the first answer named, again and again. It answers

- 206 as soon as there is more, with what there is;
- 204 where nothing came within that time, or the server stops: ask again;
- 416 at once where nothing more can come: the attempt has ended, or the log is cut at its limit. You have all of it.

A log of which nothing has come yet is waited for from \`bytes=0-\`; without \`Prefer\` it is 404. Safe to repeat.
`.trim();

const OF_WHICH = { 'Mediator-Attempt': 'The attempt that the log is of.' };
const VARY = { Vary: '`Prefer`.' };
const HEADERS = {
  'Accept-Ranges': '`bytes`.',
  'X-Content-Type-Options': '`nosniff`.',
  ...OF_WHICH,
  ...VARY,
};
const APPLIED = { 'Preference-Applied': 'The `wait` that was kept to, where it was.' };

export function ReadLogApi(): MethodDecorator {
  const content = { 'text/plain': { schema: { type: 'string' } } };
  return applyDecorators(
    ApiOperation({ operationId: 'readLog', description }),
    ApiRunId(),
    ApiParam({
      name: 'seq',
      description: 'Place of the step in the contract, from 1.',
      schema: { type: 'integer', minimum: 1 },
    }),
    ApiHeader({
      name: 'Range',
      required: false,
      description: 'Which bytes, such as `bytes=0-4095`.',
      schema: { type: 'string' },
    }),
    ApiHeader({
      name: 'Prefer',
      required: false,
      description:
        '`wait=N`, such as `wait=30`: with an open range that begins where the log ends, how many seconds to wait for more.',
      schema: { type: 'string' },
    }),
    ApiAnswer(200, 'All of it, so far.', { content, headers: HEADERS }),
    ApiAnswer(206, 'The bytes that were asked for.', {
      content,
      headers: { ...HEADERS, 'Content-Range': 'Which bytes these are, and of how many so far.' },
      sometimes: APPLIED,
    }),
    ApiAnswer(204, 'Nothing came as long as it waited.', {
      headers: { ...VARY, ...APPLIED },
      sometimes: OF_WHICH,
    }),
    ApiProblemsWith({ range_not_satisfiable: OF_WHICH }, 'not_found', 'range_not_satisfiable', 'unavailable'),
  );
}

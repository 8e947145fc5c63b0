import { applyDecorators } from '@nestjs/common';
import { ApiOperation } from '@nestjs/swagger';
import { ApiAnswer } from '../platform/http/api-answer.decorator.js';
import { ApiProblems } from '../platform/http/api-problems.decorator.js';
import { RunListDto } from './run.dto.js';

const description = `
A page of the runs that match every filter that is given, without their steps. \`next\` is the cursor of the following page
and null on the last one; the header \`Link\` leads there too.

Safe to repeat. It answers at once.
`.trim();

export function ListRunsApi(): MethodDecorator {
  return applyDecorators(
    ApiOperation({ operationId: 'listRuns', description }),
    ApiAnswer(200, 'A page of runs.', {
      type: RunListDto,
      sometimes: { Link: 'Where there is a next page: `<path>; rel="next"` (RFC 8288).' },
    }),
    ApiProblems('unavailable'),
  );
}

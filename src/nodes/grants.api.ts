import { applyDecorators } from '@nestjs/common';
import { ApiOperation } from '@nestjs/swagger';
import { ApiAnswer } from '../platform/http/api-answer.decorator.js';
import { ApiProblems } from '../platform/http/api-problems.decorator.js';
import { NEXT_PAGE } from '../platform/http/cursor.js';
import { GrantListDto } from './grants.dto.js';

const LIST_GRANTS = `
A page of the grants that match every filter that is given: which run held which node, from when to when. With \`from\` and
\`to\` those that overlap this time, both ends included; with both the same, those of a moment. \`next\` is the cursor of the
following page and null on the last one; the header \`Link\` leads there too.

Grants stay when a run is over, and when its node is forgotten. Safe to repeat. It answers at once.
`.trim();

export function ListGrantsApi(): MethodDecorator {
  return applyDecorators(
    ApiOperation({ operationId: 'listGrants', description: LIST_GRANTS }),
    ApiAnswer(200, 'A page of grants.', {
      type: GrantListDto,
      sometimes: { Link: NEXT_PAGE },
    }),
    ApiProblems('unavailable'),
  );
}

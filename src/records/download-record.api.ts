import { applyDecorators } from '@nestjs/common';
import { ApiOperation } from '@nestjs/swagger';
import { ApiAnswer } from '../platform/http/api-answer.decorator.js';
import { ApiProblems } from '../platform/http/api-problems.decorator.js';
import { ApiRunId } from '../platform/http/api-run-id.decorator.js';

const description = `
The sealed record of a run that is over, as one tar: a folder \`run-<run_id>/\` with \`manifest.json\` (the contract, who asked,
how it waited, which nodes it held), \`verdict.json\`, \`steps/<seq>-<id>.json\` and \`SHA256SUMS\`, which \`sha256sum -c\` reads.
The digest is \`sha256:\` and the SHA-256 of \`SHA256SUMS\`.

Safe to repeat: it is byte for byte the same each time. Where it is \`not_sealed\`, ask again when \`record.state\` of the run
is SEALED.
`.trim();

export function DownloadRecordApi(): MethodDecorator {
  return applyDecorators(
    ApiOperation({ operationId: 'downloadRecord', description }),
    ApiRunId(),
    ApiAnswer(200, 'The record.', {
      content: { 'application/x-tar': { schema: { type: 'string', format: 'binary' } } },
      headers: {
        ETag: 'The digest of the record, in quotes.',
        'Content-Disposition': 'Names the file `run-<run_id>.tar`.',
      },
    }),
    ApiProblems('not_found', 'not_sealed', 'unavailable'),
  );
}

import { applyDecorators } from '@nestjs/common';
import { ApiHeader, ApiOperation } from '@nestjs/swagger';
import { ApiAnswer } from '../platform/http/api-answer.decorator.js';
import { ApiProblems } from '../platform/http/api-problems.decorator.js';
import { ApiRunId } from '../platform/http/path-parameters.js';

const description = `
The sealed record of a run that is over, as one tar: a folder \`run-<run_id>/\` with

- \`manifest.json\`: the contract, who asked, how it waited, which nodes it held,
- \`verdict.json\`,
- \`steps/<seq>-<id>.json\`: each step with every attempt, its questions and their answers, and what it left,
- \`logs/<seq>.<attempt>-<name>.log\` and \`blobs/<seq>.<attempt>-<name>\`: what each attempt has written and uploaded,
- \`SHA256SUMS\`: the sums of all of these, which \`sha256sum -c\` reads.

The digest is \`sha256:\` and the SHA-256 of \`SHA256SUMS\`. \`npm run -s record:verify FILE.tar\` checks a record without
the server.

Safe to repeat: it is byte for byte the same each time. Where it is \`not_sealed\`, ask again when \`record.state\` of the run
is SEALED.
`.trim();

export function DownloadRecordApi(): MethodDecorator {
  return applyDecorators(
    ApiOperation({ operationId: 'downloadRecord', description }),
    ApiRunId(),
    ApiHeader({
      name: 'If-None-Match',
      required: false,
      description: 'The ETag of what the caller has, with its quotes: 304 where that is still it.',
      schema: { type: 'string' },
    }),
    ApiAnswer(200, 'The record.', {
      content: { 'application/x-tar': { schema: { type: 'string', format: 'binary' } } },
      headers: {
        ETag: 'The digest of the record, in quotes.',
        'Content-Disposition': 'Names the file `run-<run_id>.tar`.',
      },
    }),
    ApiAnswer(304, 'The caller has it.', { headers: { ETag: 'The digest of the record, in quotes.' } }),
    ApiProblems('not_found', 'not_sealed', 'unavailable'),
  );
}

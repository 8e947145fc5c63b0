import { applyDecorators } from '@nestjs/common';
import { ApiHeader, ApiOperation, ApiParam } from '@nestjs/swagger';
import { ApiAnswer } from '../../platform/http/api-answer.decorator.js';
import { ApiProblems } from '../../platform/http/api-problems.decorator.js';
import { ApiRunId } from '../../platform/http/api-run-id.decorator.js';

const description = `
An output of the run, as a node uploaded it or a person answered it: the newest upload of exactly this name. Where steps
promise the name it is of one of them, in whichever attempt; where none does, of whichever step. A part of it can be asked for with \`Range\` (one range, RFC 9110); several ranges get all of it.

A node gets the outputs of runs that hold it, and of no others.

Safe to repeat. Where the download broke off, go on with \`Range\` and \`If-Range\`: when the output was uploaded anew
meanwhile, all of the new one comes.
`.trim();

const HEADERS = {
  ETag: 'The SHA-256 of the bytes, in quotes.',
  'Accept-Ranges': '`bytes`.',
  'Content-Disposition': '`attachment`, with the name of the output.',
  'X-Content-Type-Options': '`nosniff`: the media type is what the node said.',
};

export function DownloadBlobApi(): MethodDecorator {
  const content = { '*/*': { schema: { type: 'string', format: 'binary' } } };
  return applyDecorators(
    ApiOperation({ operationId: 'downloadBlob', description }),
    ApiRunId(),
    ApiParam({ name: 'name', description: 'The name of the output.', schema: { type: 'string' } }),
    ApiHeader({
      name: 'Range',
      required: false,
      description: 'Which bytes, such as `bytes=0-4095`.',
      schema: { type: 'string' },
    }),
    ApiHeader({
      name: 'If-None-Match',
      required: false,
      description: 'The ETag of what the caller has, with its quotes: 304 where that is still it.',
      schema: { type: 'string' },
    }),
    ApiHeader({
      name: 'If-Range',
      required: false,
      description: 'The ETag, with its quotes, that `Range` is meant for; of any other bytes all are answered.',
      schema: { type: 'string' },
    }),
    ApiAnswer(200, 'All of it.', { content, headers: HEADERS }),
    ApiAnswer(206, 'The bytes that were asked for.', {
      content,
      headers: { ...HEADERS, 'Content-Range': 'Which bytes these are, and of how many.' },
    }),
    ApiAnswer(304, 'The caller has it.', { headers: { ETag: HEADERS.ETag } }),
    ApiProblems('not_found', 'range_not_satisfiable', 'unavailable'),
  );
}

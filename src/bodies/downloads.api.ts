import { applyDecorators } from '@nestjs/common';
import { ApiHeader, ApiOperation, ApiParam } from '@nestjs/swagger';
import { ApiAnswer } from '../platform/http/api-answer.decorator.js';
import { ApiProblems, ApiProblemsWith } from '../platform/http/api-problems.decorator.js';
import { ApiRunId } from '../platform/http/path-parameters.js';

const DOWNLOAD_BLOB = `
An output of the run, as a node uploaded it or a person answered it: the newest upload of exactly this name. Where steps
promise the name it is of one of them, in whichever attempt; where none does, of whichever step. A part of it can be asked for with \`Range\` (one range, RFC 9110); several ranges get all of it.

A node gets the outputs of runs that hold it, and of no others.

Safe to repeat. Where the download broke off, go on with \`Range\` and \`If-Range\`: when the output was uploaded anew
meanwhile, all of the new one comes.
`.trim();

const BLOB_HEADERS = {
  ETag: 'The SHA-256 of the bytes, in quotes.',
  'Accept-Ranges': '`bytes`.',
  'Content-Disposition': '`attachment`, with the name of the output.',
  'X-Content-Type-Options': '`nosniff`: the media type is what the node said.',
};

export function DownloadBlobApi(): MethodDecorator {
  const content = { '*/*': { schema: { type: 'string', format: 'binary' } } };
  return applyDecorators(
    ApiOperation({ operationId: 'downloadBlob', description: DOWNLOAD_BLOB }),
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
    ApiAnswer(200, 'All of it.', { content, headers: BLOB_HEADERS }),
    ApiAnswer(206, 'The bytes that were asked for.', {
      content,
      headers: { ...BLOB_HEADERS, 'Content-Range': 'Which bytes these are, and of how many.' },
    }),
    ApiAnswer(304, 'The caller has it.', { headers: { ETag: BLOB_HEADERS.ETag } }),
    ApiProblems('not_found', 'range_not_satisfiable', 'unavailable'),
  );
}

const READ_LOG = `
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
const LOG_HEADERS = {
  'Accept-Ranges': '`bytes`.',
  'X-Content-Type-Options': '`nosniff`.',
  ...OF_WHICH,
  ...VARY,
};
const APPLIED = { 'Preference-Applied': 'The `wait` that was kept to, where it was.' };

export function ReadLogApi(): MethodDecorator {
  const content = { 'text/plain': { schema: { type: 'string' } } };
  return applyDecorators(
    ApiOperation({ operationId: 'readLog', description: READ_LOG }),
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
    ApiAnswer(200, 'All of it, so far.', { content, headers: LOG_HEADERS }),
    ApiAnswer(206, 'The bytes that were asked for.', {
      content,
      headers: { ...LOG_HEADERS, 'Content-Range': 'Which bytes these are, and of how many so far.' },
      sometimes: APPLIED,
    }),
    ApiAnswer(204, 'Nothing came as long as it waited.', {
      headers: { ...VARY, ...APPLIED },
      sometimes: OF_WHICH,
    }),
    ApiProblemsWith({ range_not_satisfiable: OF_WHICH }, 'not_found', 'range_not_satisfiable', 'unavailable'),
  );
}

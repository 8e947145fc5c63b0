import { Readable } from 'node:stream';
import { StreamableFile } from '@nestjs/common';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { namesTag } from './if-match.js';
import { Problem } from './problem.js';

/** The bytes that a request asks for, both ends included. */
export interface ByteRange {
  first: number;
  last: number;
}

const SINGLE = /^bytes=[ \t]*(?:(\d+)-(\d*)|-(\d+))[ \t]*$/i;

/**
 * What the header Range means for so many bytes (RFC 9110, 14.2). Undefined: all of them, since there is no such header,
 * or one that is to be ignored: another unit, several ranges, ends that are the wrong way round.
 */
export function rangeOf(header: string | undefined, size: number): ByteRange | 'outside' | undefined {
  const [, from, to, tail] = SINGLE.exec(header ?? '') ?? [];
  if (tail !== undefined) {
    if (Number(tail) === 0) return 'outside';
    return size === 0 ? undefined : { first: Math.max(0, size - Number(tail)), last: size - 1 };
  }
  if (from === undefined) return undefined;
  const [first, last] = [Number(from), to ? Number(to) : Infinity];
  if (last < first) return undefined;
  return first >= size ? 'outside' : { first, last: Math.min(last, size - 1) };
}

/** Where a range begins that has no end, `bytes=100-`: whoever sends it wants whatever comes. */
export function openRangeStart(header: string | undefined): number | undefined {
  const [, from, to] = SINGLE.exec(header ?? '') ?? [];
  return from === undefined || to ? undefined : Number(from);
}

/** Bytes that are stored, and can be read from anywhere. */
export interface StoredBytes {
  size: number;
  /** The media type. */
  type: string;
  /** A strong entity tag, in its quotes; none where the bytes may grow. */
  tag?: string;
  /** The name under which a browser is to keep them, instead of showing them in the name of this server. */
  saveAs?: string;
  /** Further headers, where they are answered. */
  headers?: Record<string, string>;
  /** From `first` to before `end`; nothing is read before it is asked for. */
  read(first: number, end: number): AsyncIterable<Uint8Array>;
}

/**
 * Answers stored bytes: all of them, the one range that is asked for (206), or that the caller has them (304). Throws
 * range_not_satisfiable. A request for several ranges gets all bytes, which RFC 9110 allows. (HEAD has no ranges, and its
 * stream is destroyed unread.)
 */
export function answerBytes(
  request: FastifyRequest,
  reply: FastifyReply,
  bytes: StoredBytes,
): StreamableFile | undefined {
  const { size, type, tag, saveAs, headers = {} } = bytes;
  const { 'if-none-match': ifNoneMatch } = request.headers;
  if (tag !== undefined && namesTag(ifNoneMatch, tag)) {
    void reply.status(304).headers({ ...headers, etag: tag });
    return undefined;
  }
  const range = mayBePart(request, tag) ? rangeOf(request.headers.range, size) : undefined;
  if (range === 'outside') {
    const contentRange = { 'Content-Range': `bytes */${size}` };
    throw new Problem('range_not_satisfiable', `the size is ${size} bytes`, {
      headers: { ...headers, ...contentRange },
    });
  }
  // What a node sent is never taken for anything but what it says it is.
  void reply.headers({ ...headers, 'accept-ranges': 'bytes', 'x-content-type-options': 'nosniff' });
  if (saveAs !== undefined) void reply.header('content-disposition', `attachment; filename="${saveAs}"`);
  if (tag !== undefined) void reply.header('etag', tag);
  if (range !== undefined) {
    void reply.status(206).header('content-range', `bytes ${range.first}-${range.last}/${size}`);
  }
  return streamOf(bytes, range ?? { first: 0, last: size - 1 }, type);
}

function streamOf(bytes: StoredBytes, { first, last }: ByteRange, type: string): StreamableFile {
  const stream = Readable.from(bytes.read(first, last + 1), { objectMode: false });
  return new StreamableFile(stream, { type, length: last + 1 - first });
}

/** With If-Range a part is wanted only of these very bytes; a date is never ours. */
function mayBePart({ method, headers }: FastifyRequest, tag: string | undefined): boolean {
  const ifRange = headers['if-range'];
  return method === 'GET' && (ifRange === undefined || ifRange === tag);
}

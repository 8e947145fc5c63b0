import { randomUUID } from 'node:crypto';
import type { IncomingMessage } from 'node:http';
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';

/** Headers of answers that mean the same everywhere: components of the OpenAPI document. */
export const SHARED_HEADERS = {
  RequestId: {
    description: 'The id of the request: the one that was sent, else a new one. It names the request in the log.',
    required: true,
    schema: { type: 'string', maxLength: 128 },
    example: '6f1c9a52-1f0e-4f3b-9a53-0d6c2b1f7a10',
  },
  CacheControl: {
    description:
      '`no-store`; `private, no-cache` where an ETag is answered to GET, so that the answer may be kept and is asked for anew each time.',
    required: true,
    schema: { type: 'string' },
    example: 'no-store',
  },
  Authenticate: {
    description:
      'By which scheme to send a token: `Bearer`, with `error="invalid_token"` where one was sent that is not known (RFC 6750).',
    required: true,
    schema: { type: 'string' },
    example: 'Bearer',
  },
  RetryAfter: {
    description: 'After how many seconds to ask again.',
    required: true,
    schema: { type: 'integer', minimum: 1 },
    example: 1,
  },
};

/** The reference by which an answer carries a shared header. */
export function sharedHeader(name: keyof typeof SHARED_HEADERS): { $ref: string } {
  return { $ref: `#/components/headers/${name}` };
}

const KEPT = new Set([200, 206, 304]);

/**
 * Says of every answer whether it may be kept. What has an entity tag may be, by whoever asked, and is asked for anew each
 * time: outputs are uploaded anew, records purged, and rights taken away. Nothing else is true for longer than its answer.
 */
export function keepAnswers(fastify: FastifyInstance): void {
  fastify.addHook('onSend', (request, reply, _payload, done) => {
    if (!reply.hasHeader('cache-control')) void reply.header('cache-control', hasTag(request, reply) ? KEEP : NEVER);
    done();
  });
}

export const NEVER = 'no-store';
const KEEP = 'private, no-cache';

function hasTag({ method }: FastifyRequest, reply: FastifyReply): boolean {
  const reads = method === 'GET' || method === 'HEAD';
  return reads && KEPT.has(reply.statusCode) && reply.hasHeader('etag');
}

/** The caller's X-Request-Id where it is harmless to log and to answer, else a new one. */
export function requestId(request: Pick<IncomingMessage, 'headers'>): string {
  const given = request.headers['x-request-id'];
  return typeof given === 'string' && /^[\x21-\x7e]{1,128}$/.test(given) ? given : randomUUID();
}

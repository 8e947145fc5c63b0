import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';

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

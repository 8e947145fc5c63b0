import type { FastifyInstance } from 'fastify';

/**
 * Cuts the connection of a body that has not come whole after so long: whoever sends a byte now and then would keep a
 * connection for ever. Bodies that are handed over unread are not meant: a log is written for as long as its step takes,
 * by a node that holds the step, and `bodyChunks` bounds its pauses. Nor is a call that waits, which has come whole long
 * before.
 */
export function limitSlowBodies(fastify: FastifyInstance, seconds: number): void {
  fastify.addHook('preParsing', (request, reply, payload, done) => {
    if (!request.routeOptions.config.rawBody && !request.raw.complete) {
      const timer = setTimeout(() => {
        if (!request.raw.complete) request.raw.destroy();
      }, seconds * 1000).unref();
      reply.raw.once('close', () => clearTimeout(timer));
    }
    done(null, payload);
  });
}

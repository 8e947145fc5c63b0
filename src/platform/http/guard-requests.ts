import '../access/token.js';
import { NotFoundException } from '@nestjs/common';
import type { FastifyInstance } from 'fastify';
import { pointerTo } from '../../domain/json/json-text.js';
import type { Lifecycle } from '../lifecycle.js';
import { unavailable } from './problem.filter.js';
import { Problem } from './problem.js';
import { illFormed } from './well-formed.js';

/** What holds for every request before a controller sees it, and for every answer. */
export function guardRequests(fastify: FastifyInstance, lifecycle: Lifecycle): void {
  fastify.addHook('onRequest', async (request, reply) => {
    void reply.header('x-request-id', request.id);
    // While the process stops, a connection is not kept for another request.
    if (lifecycle.phase === 'stopping') void reply.header('connection', 'close');
    // The route's own path: that of the request can spell it in other ways.
    if (!isServed(request.routeOptions.url ?? request.url, lifecycle)) {
      throw unavailable(lifecycle.phase === 'starting' ? 'the server is starting' : 'the server is stopping');
    }
    // Of a body that nothing takes nothing is read, and nothing is said.
    if (request.is404) throw new NotFoundException();
  });

  fastify.addHook('preValidation', async (request) => {
    if (!isDecodable(request.url)) throw new Problem('invalid_request', 'the query must be percent-encoded UTF-8');
    if (request.headers.host === undefined && request.raw.httpVersion === '1.1') {
      throw new Problem('invalid_request', 'the Host header must name the server');
    }
    // A body was judged when it was read.
    const parts = { path: request.params, query: request.query, headers: request.headers };
    for (const [part, values] of Object.entries(parts)) {
      const name = illFormed(values ?? {});
      if (name === undefined) continue;
      throw new Problem('invalid_request', `${part}${pointerTo('', name)} must be well-formed Unicode without NUL`);
    }
  });

  fastify.addHook('onResponse', async (request, reply) => {
    // Probes and pages come by the thousand and say nothing, unless they fail.
    const level = request.url.startsWith('/v1') || reply.statusCode >= 400 ? 'info' : 'debug';
    request.log[level]({
      msg: 'request',
      method: request.method,
      path: request.url.split('?', 1)[0],
      status: reply.statusCode,
      code: request.problemCode,
      principal: request.token?.name,
      ms: Math.round(reply.elapsedTime * 10) / 10,
    });
  });
}

/** The parser of queries leaves as it is what it cannot decode. A path that cannot be decoded does not get here. */
function isDecodable(url: string): boolean {
  try {
    decodeURIComponent(url);
    return true;
  } catch {
    return false;
  }
}

/** Under /v1 nothing is served before the process is ready, nor new requests once it has begun to stop. */
function isServed(url: string, lifecycle: Lifecycle): boolean {
  return lifecycle.serves || !(url === '/v1' || url.startsWith('/v1/') || url.startsWith('/v1?'));
}

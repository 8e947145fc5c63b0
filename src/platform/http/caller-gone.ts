import '../access/token.js';
import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import { createParamDecorator, type ExecutionContext } from '@nestjs/common';
import type { FastifyReply, FastifyRequest, FastifyInstance } from 'fastify';

/**
 * A signal that is aborted when the caller's connection closes before it has its answer, or the caller's token is revoked:
 * a call that waits is then answered with nothing.
 */
export const CallerGone = createParamDecorator((_data: unknown, context: ExecutionContext): AbortSignal => {
  const { raw } = context.switchToHttp().getResponse<FastifyReply>();
  const { token } = context.switchToHttp().getRequest<FastifyRequest>();
  const gone = new AbortController();
  const leave = (): void => gone.abort();
  // Fastify's own request.signal never fires for a request with a body.
  if (raw.destroyed || token?.revoked.aborted) leave();
  token?.revoked.addEventListener('abort', leave);
  raw.once('close', () => {
    token?.revoked.removeEventListener('abort', leave);
    if (!raw.writableFinished) leave();
  });
  return gone.signal;
});

/** The rest of a body so small is read, and the connection kept for another request. */
const SMALL_BYTES = 64 * 1024;

/**
 * Ends the connection of a request that was answered before it had come whole, most often a refusal: for so many seconds
 * what comes is read and dropped, so that a caller who is still sending hears the answer (a connection that is closed at
 * once is reset, and may take the answer with it); then it is cut. The answer says that the connection closes, and it is closed as
 * soon as the rest has come. Only where little is to come it is left open, and the same time is given to that.
 */
export function closeUnread(fastify: FastifyInstance, seconds: number): void {
  fastify.addHook('onSend', (request, reply, payload, done) => {
    sayThatItCloses(request, reply);
    done(null, payload);
  });
  fastify.server.on('request', (request: IncomingMessage, response: ServerResponse) => {
    response.once('finish', () => {
      if (!request.complete) cutAfter(request, seconds);
    });
  });
}

/** To be called before an answer that no hook sees: where the request has not come whole, it says that the connection closes. */
export function sayThatItCloses({ raw }: FastifyRequest, reply: FastifyReply): void {
  if (raw.complete) return;
  if (!(lengthOf(raw) <= SMALL_BYTES)) void reply.header('connection', 'close');
  // Also where it is the caller who wants it closed, by the header or by speaking HTTP/1.0.
  closeInStages(raw);
}

/** Cuts the connection after so many seconds, unless the request has come whole by then. */
export function cutAfter(request: IncomingMessage, seconds: number): void {
  const timer = setTimeout(() => {
    if (!request.complete) request.socket.destroy();
  }, seconds * 1000).unref();
  request.once('close', () => clearTimeout(timer));
}

/** Where Node closes both ways at once behind the last answer, the way in stays here until the rest has come. */
function closeInStages(request: IncomingMessage): void {
  const socket: Socket = request.socket;
  socket.destroySoon = () => {
    if (request.complete) return void socket.destroy();
    request.once('end', () => socket.destroy());
    socket.end();
  };
}

/** NaN where the body comes in pieces. */
function lengthOf({ headers }: IncomingMessage): number {
  return Number(headers['content-length'] ?? NaN);
}

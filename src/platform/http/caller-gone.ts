import { createParamDecorator, type ExecutionContext } from '@nestjs/common';
import type { FastifyReply, FastifyRequest } from 'fastify';
import type {} from '../access/token.js';

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

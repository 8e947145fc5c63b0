import { createParamDecorator, type ExecutionContext } from '@nestjs/common';
import type { FastifyRequest } from 'fastify';
import { Problem } from './problem.js';

export const PRINCIPAL = /^[\x21-\x7e]([\x20-\x7e]{0,198}[\x21-\x7e])?$/;

/** Who speaks. Without tokens everybody says it themselves, in the header Mediator-Principal. */
export const Principal = createParamDecorator((_data: unknown, context: ExecutionContext): string => {
  const { headers } = context.switchToHttp().getRequest<FastifyRequest>();
  const named = headers['mediator-principal'] ?? 'anonymous';
  if (typeof named !== 'string' || !PRINCIPAL.test(named)) {
    throw new Problem('invalid_request', 'Mediator-Principal must be 1 to 200 printable ASCII characters');
  }
  return named;
});

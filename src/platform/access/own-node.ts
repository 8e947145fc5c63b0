import { createParamDecorator, type ExecutionContext } from '@nestjs/common';
import type { FastifyRequest } from 'fastify';
import { Problem } from '../http/problem.js';
import type {} from './token.js';

/** The only node that the caller speaks for; undefined: an operator, who speaks for all. */
export const OwnNode = createParamDecorator((_data: unknown, context: ExecutionContext): string | undefined => {
  return context.switchToHttp().getRequest<FastifyRequest>().token?.nodeId;
});

/** 403 where somebody speaks for a node by the token of another. */
export function refuseUnlessOwnNode(own: string | undefined, spokenFor: string): void {
  if (own === undefined || own === spokenFor) return;
  throw new Problem('forbidden', `the token of node ${own} may not speak for node ${spokenFor}`);
}

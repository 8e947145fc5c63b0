import { createParamDecorator, type ExecutionContext } from '@nestjs/common';
import type { FastifyRequest } from 'fastify';
import type { Role } from '../access/role.js';
import type {} from '../access/token.js';
import { Problem } from './problem.js';

export const PRINCIPAL = /^[\x21-\x7e]([\x20-\x7e]{0,198}[\x21-\x7e])?$/;
export const PRINCIPAL_RULE = 'must be 1 to 200 printable ASCII characters, no space at either end';

/** Who speaks, and what they may. */
export interface Caller {
  /** The principal. */
  name: string;
  role: Role;
}

/** Who speaks, by their token. Without tokens everybody is operator and says who they are, in Mediator-Principal. */
export const CalledBy = createParamDecorator((_data: unknown, context: ExecutionContext): Caller => {
  return callerOf(context.switchToHttp().getRequest<FastifyRequest>());
});

/** The name of who speaks. */
export const Principal = createParamDecorator((_data: unknown, context: ExecutionContext): string => {
  return callerOf(context.switchToHttp().getRequest<FastifyRequest>()).name;
});

function callerOf({ token, headers }: FastifyRequest): Caller {
  if (token !== undefined) return token;
  const named = headers['mediator-principal'] ?? 'anonymous';
  if (typeof named !== 'string' || !PRINCIPAL.test(named)) {
    throw new Problem('invalid_request', `Mediator-Principal ${PRINCIPAL_RULE}`);
  }
  return { name: named, role: 'operator' };
}

import { createParamDecorator, type ExecutionContext } from '@nestjs/common';
import { ApiHeader } from '@nestjs/swagger';
import type { FastifyRequest } from 'fastify';
import { BY_DEFAULT, NOT_BY_DEFAULT } from '../../domain/verdict.js';
import type { Role } from '../access/token.js';
import { Problem } from './problem.js';

const PRINCIPAL = /^(?!default$)[\x21-\x7e]([\x20-\x7e]{0,198}[\x21-\x7e])?$/;
const PRINCIPAL_RULE = 'must be 1 to 200 printable ASCII characters, no space at either end';

/** Why nobody can be called so; undefined: somebody can. */
export function wrongPrincipal(name: unknown): string | undefined {
  if (name === BY_DEFAULT) return NOT_BY_DEFAULT;
  return typeof name === 'string' && PRINCIPAL.test(name) ? undefined : PRINCIPAL_RULE;
}

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
  const wrong = wrongPrincipal(named);
  if (wrong !== undefined) throw new Problem('invalid_request', `Mediator-Principal ${wrong}`);
  return { name: named as string, role: 'operator' };
}

/** The header Mediator-Principal, by which a caller says who they are. */
export function ApiPrincipal(): MethodDecorator & ClassDecorator {
  return ApiHeader({
    name: 'Mediator-Principal',
    required: false,
    description:
      'Who speaks, where the server has no tokens; it is shown and recorded. Where it has, the name of the token says so, ' +
      'and this is ignored. 1 to 200 printable ASCII characters, no space at either end.',
    schema: { type: 'string', maxLength: 200, pattern: PRINCIPAL.source, default: 'anonymous' },
  });
}

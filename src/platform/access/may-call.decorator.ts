import { applyDecorators, createParamDecorator, type ExecutionContext } from '@nestjs/common';
import { RouteConfig } from '@nestjs/platform-fastify';
import { ApiExtension, ApiSecurity } from '@nestjs/swagger';
import type { FastifyRequest } from 'fastify';
import { Problem } from '../http/problem.js';
import type { Role } from './token.js';

/** The name of the security scheme in the OpenAPI document. */
export const TOKEN_SCHEME = 'token';

/**
 * Which roles may call a route; the guard refuses all others before anything of the body is read. It stands above
 * `@RouteConfig`, to which it adds. A route that says nothing of this kind keeps the server from starting.
 */
export function MayCall(...roles: Role[]): MethodDecorator {
  return applyDecorators(addToRoute({ mayCall: roles }), ApiSecurity(TOKEN_SCHEME), ApiExtension('x-roles', roles));
}

/** The route needs no token. */
export function AnybodyMayCall(): MethodDecorator {
  return addToRoute({ mayCall: 'anybody' });
}

function addToRoute(more: { mayCall: 'anybody' | Role[] }): MethodDecorator {
  return (target, key, descriptor: PropertyDescriptor) => {
    const before = Reflect.getMetadata(RouteConfig({}).KEY, descriptor.value as object) as object | undefined;
    RouteConfig({ ...before, ...more })(target, key, descriptor);
  };
}

/** The only node that the caller speaks for; undefined: an operator, who speaks for all. */
export const OwnNode = createParamDecorator((_data: unknown, context: ExecutionContext): string | undefined => {
  return context.switchToHttp().getRequest<FastifyRequest>().token?.nodeId;
});

/** 403 where somebody speaks for a node by the token of another. */
export function refuseUnlessOwnNode(own: string | undefined, spokenFor: string): void {
  if (own === undefined || own === spokenFor) return;
  throw new Problem('forbidden', `the token of node ${own} may not speak for node ${spokenFor}`);
}

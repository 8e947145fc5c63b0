import { applyDecorators } from '@nestjs/common';
import { RouteConfig } from '@nestjs/platform-fastify';
import { ApiExtension, ApiSecurity } from '@nestjs/swagger';
import type { Role } from './role.js';

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

import type { CanActivate, ExecutionContext, Type } from '@nestjs/common';
import { ROUTE_ARGS_METADATA } from '@nestjs/common/constants.js';
import { RouteParamtypes } from '@nestjs/common/enums/route-paramtypes.enum.js';
import type { FastifyRequest } from 'fastify';
import { type Fault, listable } from '../../domain/json/fault-list.js';
import { pointerTo } from '../../domain/json/json-text.js';
import { fieldsOf } from './as-dto.js';
import { faulty } from './problem.js';

type Handler = (...args: never[]) => unknown;

/** A parameter that may be given more than once is an array in its class. */
type Known = ReadonlyMap<string, { many: boolean }>;

/**
 * Refuses, under /v1, a query parameter that the operation does not know, and one that is given twice where one is meant: who
 * mistypes a filter would be shown everything. What an operation knows is what its handler takes with @Query(), and nothing
 * is said about it elsewhere. Probes and pages ignore what they do not know.
 */
export class KnownQueries implements CanActivate {
  readonly #known = new Map<Handler, Known>();

  canActivate(context: ExecutionContext): boolean {
    const { query, routeOptions } = context.switchToHttp().getRequest<FastifyRequest>();
    if (!routeOptions.url?.startsWith('/v1/')) return true;
    const given = Object.entries(query as Record<string, unknown>);
    if (given.length === 0) return true;
    const known = this.#knownTo(context.getClass(), context.getHandler() as Handler);
    const faults = listable(given.flatMap(([name, value]) => faultOf(name, value, known)));
    if (faults.length > 0) throw faulty(faults, 'the query');
    return true;
  }

  #knownTo(controller: Type, handler: Handler): Known {
    let known = this.#known.get(handler);
    if (known === undefined) this.#known.set(handler, (known = queriesOf(controller, handler.name)));
    return known;
  }
}

function faultOf(name: string, value: unknown, known: Known): Fault[] {
  const pointer = pointerTo('', name);
  const parameter = known.get(name);
  if (parameter === undefined) {
    const names = [...known.keys()].join(', ');
    const detail = names
      ? `is not a parameter of this operation, which takes ${names}`
      : 'is not a parameter of this operation, which takes none';
    return [{ pointer, detail }];
  }
  return Array.isArray(value) && !parameter.many ? [{ pointer, detail: 'must be given once' }] : [];
}

interface RouteArgument {
  index: number;
  data?: unknown;
}

/** What the method of a controller takes from the query: by its name, or by the fields of a class. */
function queriesOf(controller: Type, method: string): Known {
  const taken = (Reflect.getMetadata(ROUTE_ARGS_METADATA, controller, method) ?? {}) as Record<string, RouteArgument>;
  const prototype = controller.prototype as object;
  const types = (Reflect.getMetadata('design:paramtypes', prototype, method) ?? []) as Type<object>[];
  const known = new Map<string, { many: boolean }>();
  for (const [key, { index, data }] of Object.entries(taken)) {
    if (Number(key.split(':', 1)[0]) !== Number(RouteParamtypes.QUERY)) continue;
    const type = types[index]!;
    if (typeof data === 'string') known.set(data, { many: isArray(type) });
    else for (const field of fieldsOf(type)) known.set(field, { many: isArray(typeOf(type, field)) });
  }
  return known;
}

function typeOf(model: Type<object>, field: string): unknown {
  return Reflect.getMetadata('design:type', model.prototype as object, field);
}

function isArray(type: unknown): boolean {
  return type === Array;
}

import { RouteConfig } from '@nestjs/platform-fastify';
import type { FastifyInstance } from 'fastify';
import { type JsonDocument, type JsonLimits, NotJson, readJson } from '../../domain/json/read-json.js';
import { refuseFaults, Problem } from './problem.js';

/** What the body of a route may be. */
export interface JsonBody extends JsonLimits {
  /** The handler gets the document, with its text and its faults, not only the value of one that has none. */
  whole?: boolean;
}

const KIB = 1024;

/** Of a route that says nothing else. */
const SMALL: JsonBody = { bytes: 16 * KIB, values: 4_000 };

/** A type that nobody sends, under which the body of a route that takes none goes past the parser of JSON. */
const UNHEEDED = 'application/vnd.mediator.unheeded-body';

/** The body of this route is JSON within these limits. */
export function TakesJson(body: JsonBody): MethodDecorator {
  return RouteConfig({ json: body });
}

/** The route takes no body. What is sent all the same, of whatever type, counts as none; it may be at most 16 KiB. */
export function TakesNoBody(): MethodDecorator {
  return RouteConfig({ noBody: true });
}

/**
 * JSON is the only body this API takes: UTF-8 and nothing else. An empty body is none. How large it is, is judged before it is
 * read whole; whether it is well-formed, how deep and how much it is, before anything is made of it.
 */
export function takeJson(fastify: FastifyInstance): void {
  fastify.removeAllContentTypeParsers();
  fastify.addHook('onRoute', (route) => {
    route.bodyLimit = (route.config?.json ?? SMALL).bytes;
  });
  fastify.addHook('onRequest', (request, _reply, done) => {
    const { headers } = request.raw;
    const { rawBody, noBody } = request.routeOptions.config;
    if (rawBody) return done();
    const none = headers['transfer-encoding'] === undefined && (headers['content-length'] ?? '0') === '0';
    // Clients give a type to a body that is empty, too: what is not there need not be JSON.
    if (none) delete headers['content-type'];
    else if (noBody) headers['content-type'] = UNHEEDED;
    done();
  });
  fastify.addContentTypeParser('application/json', { parseAs: 'buffer' }, (request, body, done) => {
    try {
      done(null, accept(body as Buffer, request.routeOptions.config.json ?? SMALL));
    } catch (error) {
      done(error as Error);
    }
  });
  fastify.addContentTypeParser(UNHEEDED, { parseAs: 'buffer' }, (request, _body, done) => {
    if (request.routeOptions.config.noBody) return done(null, undefined);
    done(new Problem('unsupported_media_type', 'the body must be sent as application/json'));
  });
}

function accept(body: Buffer, limits: JsonBody): unknown {
  if (body.length === 0) return undefined;
  const document = read(body, limits);
  if (limits.whole) return document;
  refuseFaults(document.faults);
  return document.value;
}

function read(body: Buffer, limits: JsonBody): JsonDocument {
  try {
    return readJson(body, limits);
  } catch (error) {
    if (error instanceof NotJson) throw new Problem('invalid_request', `the body is refused: ${error.message}`);
    throw error;
  }
}

declare module 'fastify' {
  interface FastifyContextConfig {
    /** What its body may be, if it is not a small one. */
    json?: JsonBody;
    /** It takes none. */
    noBody?: boolean;
  }
}

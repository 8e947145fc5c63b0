import type { IncomingMessage } from 'node:http';
import { createParamDecorator, type ExecutionContext } from '@nestjs/common';
import type { FastifyInstance, FastifyRequest } from 'fastify';
import { Problem } from './problem.js';

/** A body as it comes: nothing of it has been read yet. */
export interface RawBodyOf {
  bytes: IncomingMessage;
  mediaType: string;
  /** What Content-Length promises; undefined where the body comes in pieces. */
  length: number | undefined;
}

/** A type that nobody sends, under which the server takes the body of a route with `rawBody` past the parser of JSON. */
const RAW = 'application/vnd.mediator.raw-body';
/**
 * The media types that the document lists for bodies of any type. A generated client sends the first of them by itself,
 * so that it is one that is always true, and none is a range.
 */
export const RAW_TYPES = ['application/octet-stream', 'text/plain'];
const NO_TYPE = 'application/octet-stream';
const MOST_CHARACTERS = 255;
const TOKEN = "[!#$%&'*+.^_`|~0-9A-Za-z-]+";
const MEDIA_TYPE = new RegExp(`^${TOKEN}/${TOKEN}[ \\t]*(;[\\x20-\\x7e\\t]*)?$`);

/** Hands the body of routes with `rawBody` to their handlers unread, whatever its media type; the others go on as before. */
export function takeRawBodies(fastify: FastifyInstance): void {
  fastify.decorateRequest('sentAs', '');
  fastify.addHook('onRequest', (request, _reply, done) => {
    if (request.routeOptions.config.rawBody) {
      request.sentAs = request.raw.headers['content-type'] ?? '';
      request.raw.headers['content-type'] = RAW;
    }
    done();
  });
  fastify.addContentTypeParser(RAW, (request, _payload, done) => {
    if (request.routeOptions.config.rawBody) return done(null, undefined);
    done(new Problem('unsupported_media_type', 'the body must be sent as application/json'));
  });
}

/** A range is the type of no body: a client that sends one was generated from a document that lists one. */
function isNone(sentAs: string): boolean {
  const [essence = ''] = sentAs.split(';', 1);
  return sentAs === '' || essence.includes('*');
}

/** The body of a route with `rawBody`. */
export const RawBody = createParamDecorator((_data: unknown, context: ExecutionContext): RawBodyOf => {
  const { raw, sentAs } = context.switchToHttp().getRequest<FastifyRequest>();
  const mediaType = isNone(sentAs) ? NO_TYPE : sentAs;
  if (mediaType.length > MOST_CHARACTERS || !MEDIA_TYPE.test(mediaType)) {
    const rule = `a media type such as image/png, of at most ${MOST_CHARACTERS} characters`;
    throw new Problem('invalid_request', `Content-Type must be ${rule}`);
  }
  const promised = raw.headers['content-length'];
  return { bytes: raw, mediaType, length: promised === undefined ? undefined : Number(promised) };
});

declare module 'fastify' {
  interface FastifyContextConfig {
    /** The body is handed over unread, whatever its media type, and without a limit. */
    rawBody?: boolean;
  }
  interface FastifyRequest {
    /** The media type of a raw body, as the caller has sent it. */
    sentAs: string;
  }
}

import type { FastifyInstance } from 'fastify';
import { Problem } from './problem.js';

/** JSON is the only body this API takes: UTF-8 and nothing else. An empty body is none. */
export function takeJsonOnly(fastify: FastifyInstance): void {
  fastify.removeAllContentTypeParsers();
  fastify.addContentTypeParser('application/json', { parseAs: 'buffer' }, (_request, body, done) => {
    try {
      done(null, parseJson(body as Buffer));
    } catch (error) {
      done(error as Error);
    }
  });
}

const utf8 = new TextDecoder('utf-8', { fatal: true });

function parseJson(body: Buffer): unknown {
  if (body.length === 0) return undefined;
  let text: string;
  try {
    text = utf8.decode(body);
  } catch {
    throw new Problem('invalid_request', 'the body must be UTF-8');
  }
  try {
    return JSON.parse(text);
  } catch (error) {
    throw new Problem('invalid_request', `the body must be JSON: ${(error as Error).message}`);
  }
}

import { createHash } from 'node:crypto';
import { gzipSync } from 'node:zlib';
import type { FastifyReply, FastifyRequest } from 'fastify';
import Negotiator from 'negotiator';
import { namesTag } from '../platform/http/names-tag.js';

/** A text that does not change while the process lives, with what was worked out of it once. */
export interface ServedText {
  type: string;
  identity: { bytes: Buffer; tag: string };
  gzip: { bytes: Buffer; tag: string };
}

/** Makes a text ready to be served. Its two codings are different bytes, and so have different tags. */
export function toServe(text: string, type: string): ServedText {
  const bytes = Buffer.from(text);
  const sum = createHash('sha256').update(bytes).digest('hex').slice(0, 32);
  return {
    type,
    identity: { bytes, tag: `"${sum}"` },
    gzip: { bytes: gzipSync(bytes, { level: 9 }), tag: `"${sum}-gzip"` },
  };
}

/** Answers it compressed where that is wanted, or that the caller has it (304). */
export function answerText(request: FastifyRequest, reply: FastifyReply, { type, ...codings }: ServedText): void {
  const wanted = new Negotiator(request.raw).encoding(['gzip', 'identity']);
  // Who sends no Accept-Encoding would take any: what it can read is another matter.
  const coding = wanted === 'gzip' && request.headers['accept-encoding'] !== undefined ? 'gzip' : 'identity';
  const { bytes, tag } = codings[coding];
  void reply.headers({ vary: 'Accept-Encoding', etag: tag, 'cache-control': 'no-cache' });
  if (namesTag(request.headers['if-none-match'], tag)) return void reply.status(304).send();
  if (coding === 'gzip') void reply.header('content-encoding', 'gzip');
  void reply.type(type).send(bytes);
}

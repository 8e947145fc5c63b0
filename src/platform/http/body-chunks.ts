import type { IncomingMessage } from 'node:http';
import type { FastifyInstance } from 'fastify';
import { Problem } from './problem.js';

const NEWS = ['readable', 'end', 'error', 'close'] as const;

export interface ChunkOptions {
  /** A chunk goes on its way that long after its first byte, however small it is: a log is followed while it is written. */
  lingerMs?: number;
  /** The connection of a body of which nothing has come for so long is cut. */
  pauseSeconds: number;
  /** Ends it: nothing more is taken, and what is left over is thrown away. Its reason is thrown. */
  ended?: AbortSignal;
}

/**
 * Cuts a body into chunks of `size` bytes, the last one shorter; an empty body gives none. All chunks are the same memory:
 * each is good until the next is asked for, and nothing is read from the connection while whoever takes them is busy.
 * Throws where the body is broken off. Whatever is left when nobody wants more is read and forgotten, so that a caller who
 * is still sending hears the answer.
 */
export async function* bodyChunks(
  body: IncomingMessage,
  size: number,
  { lingerMs, pauseSeconds, ended }: ChunkOptions,
): AsyncGenerator<Buffer> {
  let goOn: () => void = () => undefined;
  const onNews = (): void => goOn();
  for (const event of NEWS) body.on(event, onNews);
  ended?.addEventListener('abort', onNews);
  const chunk = Buffer.allocUnsafe(Math.min(size, Number(body.headers['content-length'] ?? size)));
  let held = 0;
  let due = Infinity;
  let quietSince = performance.now();
  try {
    for (;;) {
      ended?.throwIfAborted();
      const piece = held < size ? readAtMost(body, size - held) : null;
      if (piece !== null) {
        quietSince = performance.now();
        if (held === 0 && lingerMs !== undefined) due = quietSince + lingerMs;
        held += piece.copy(chunk, held);
        continue;
      }
      const over = body.readableEnded;
      if (!over && body.destroyed) throw new Problem('invalid_request', 'the body ended before it was complete');
      if (held === size || (held > 0 && (over || performance.now() >= due))) {
        yield chunk.subarray(0, held);
        [held, due, quietSince] = [0, Infinity, performance.now()];
      } else if (over) {
        return;
      } else if (performance.now() >= quietSince + pauseSeconds * 1000) {
        body.destroy();
      } else {
        const until = Math.min(due, quietSince + pauseSeconds * 1000);
        await new Promise<void>((resolve) => {
          const timer = setTimeout(resolve, until - performance.now());
          goOn = () => {
            clearTimeout(timer);
            resolve();
          };
        });
      }
    }
  } finally {
    ended?.removeEventListener('abort', onNews);
    for (const event of NEWS) body.off(event, onNews);
    body.resume();
  }
}

/** What has come, up to so many bytes; null: nothing, for now or for ever. */
function readAtMost(body: IncomingMessage, most: number): Buffer | null {
  // Asked for more than there is, a stream gives nothing.
  return body.read(body.readableLength > most ? most : undefined) as Buffer | null;
}

/**
 * Cuts the connection of a body that has not come whole after so long: whoever sends a byte now and then would keep a
 * connection for ever. Bodies that are handed over unread are not meant: a log is written for as long as its step takes,
 * by a node that holds the step, and `bodyChunks` bounds its pauses. Nor is a call that waits, which has come whole long
 * before.
 */
export function limitSlowBodies(fastify: FastifyInstance, seconds: number): void {
  fastify.addHook('preParsing', (request, reply, payload, done) => {
    if (!request.routeOptions.config.rawBody && !request.raw.complete) {
      const timer = setTimeout(() => {
        if (!request.raw.complete) request.raw.destroy();
      }, seconds * 1000).unref();
      reply.raw.once('close', () => clearTimeout(timer));
    }
    done(null, payload);
  });
}

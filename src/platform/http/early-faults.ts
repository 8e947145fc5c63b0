import { randomUUID } from 'node:crypto';
import type { Socket } from 'node:net';
import type { FastifyError, FastifyReply, FastifyRequest } from 'fastify';
import { sayThatItCloses } from './caller-gone.js';
import { problemBody } from './problem.filter.js';
import { Problem } from './problem.js';
import { NEVER } from './shared-headers.js';

const CLOSE_MS = 4000;

/** The answer that node is writing to a connection, as its own handler of such faults looks it up. */
type AnsweredSocket = Socket & { _httpMessage?: { headersSent: boolean } | null };

/** A path that cannot be decoded, or is too long to be one of ours. */
export function answerBadPath(_error: FastifyError, request: FastifyRequest, reply: FastifyReply): void {
  const problem = new Problem(
    'invalid_request',
    'the path must be percent-encoded UTF-8, and each of its segments at most 1000 characters',
  );
  sayThatItCloses(request, reply);
  void reply
    .status(problem.status)
    .header('x-request-id', request.id)
    .header('cache-control', NEVER)
    .type('application/problem+json')
    .send(problemBody(problem, request));
}

/**
 * Bytes that are no HTTP request, or headers larger than one may send: the connection is answered and closed. Where they
 * follow a request whose answer is on its way, that answer is the last word: another one behind it would be taken for a part of it.
 */
export function answerNoHttp(error: Error & { code?: string }, socket: AnsweredSocket): void {
  if (error.code === 'ECONNRESET' || !socket.writable) return void socket.destroy();
  if (socket._httpMessage?.headersSent) return void socket.end();
  const problem = new Problem('invalid_request', 'the server cannot read this as an HTTP request');
  const id = randomUUID();
  const body = JSON.stringify(problemBody(problem, { id, url: '' }));
  const head = `HTTP/1.1 400 Bad Request\r\nContent-Type: application/problem+json\r\nContent-Length: ${Buffer.byteLength(body)}`;
  // Whoever sends more is cut off then; whoever sends nothing, and does not close either, after a moment.
  const timer = setTimeout(() => socket.destroy(), CLOSE_MS).unref();
  socket.once('close', () => clearTimeout(timer));
  socket.end(`${head}\r\nX-Request-Id: ${id}\r\nCache-Control: ${NEVER}\r\nConnection: close\r\n\r\n${body}`);
}

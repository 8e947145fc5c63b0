import { type ArgumentsHost, Catch, type ExceptionFilter, HttpException, Logger } from '@nestjs/common';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { listable } from '../../domain/json/fault-list.js';
import { type ProblemCode, PROBLEMS } from '../../domain/problem-codes.js';
import { causeOf, isUnreachable } from '../sessions/faults.js';
import { SayOnce } from '../logging/say-once.js';
import { Problem } from './problem.js';
import type { Routes } from './routes.js';
import { NEVER } from './shared-headers.js';

const RETRY_AFTER_SECONDS = 1;
/** Of JSON, and of the path: with the faults, which have a bound of their own, a refusal stays under 64 KiB. */
const MOST_DETAIL = 12 * 1024;
const MOST_PATH = 2048;
/** Headers that describe the body that was to be answered. */
const DESCRIBING = [
  'etag',
  'accept-ranges',
  'content-range',
  'content-disposition',
  'mediator-attempt',
  'preference-applied',
  'vary',
];

/** The one place that answers a 4xx or 5xx. A 4xx is answered quietly; a 5xx of our own making is logged with its stack. */
@Catch()
export class ProblemFilter implements ExceptionFilter {
  readonly #logger = new Logger('http');
  readonly #said = new SayOnce();

  constructor(private readonly routes: Routes) {}

  catch(exception: unknown, host: ArgumentsHost): void {
    const reply = host.switchToHttp().getResponse<FastifyReply>();
    const request = host.switchToHttp().getRequest<FastifyRequest>();
    if (reply.sent || reply.raw.destroyed) return;
    if (isHealthReport(exception)) {
      void reply.status(exception.getStatus()).send(exception.getResponse());
      return;
    }
    const problem = this.#toProblem(exception, request);
    request.problemCode = problem.code;
    if (problem.code === 'internal') {
      this.#logger.error({ msg: 'internal error', request_id: request.id, err: exception });
    } else if (problem.code === 'unavailable') {
      this.#tellUnavailable(problem.detail, request, exception);
    }
    // A stream can fail before its first byte: what was said of it is not true of the problem.
    for (const name of DESCRIBING) void reply.removeHeader(name);
    void reply
      .status(problem.status)
      // `GET *` comes here past the hook that sets it.
      .header('x-request-id', request.id)
      .header('cache-control', NEVER)
      .headers(problem.extras.headers ?? {})
      .type('application/problem+json')
      .send(problemBody(problem, request));
  }

  #toProblem(exception: unknown, request: FastifyRequest): Problem {
    if (exception instanceof Problem) return exception;
    if (isUnreachable(exception)) return unavailable('the database does not answer');
    const status = statusOf(exception);
    const message = (exception as Error | undefined)?.message ?? '';
    if (status === 404) return this.#noRoute(request);
    if (status === 413) return tooLarge(request.routeOptions.bodyLimit);
    if (status === 415) return new Problem('unsupported_media_type', 'the body must be sent as application/json');
    if (status === 503) return unavailable('the server is stopping');
    if (status >= 400 && status < 500) return new Problem('invalid_request', message);
    return new Problem('internal', 'the server has failed; its log has the details under this request id');
  }

  /** While the database is away every request is answered so: the cause is logged when it changes. */
  #tellUnavailable(detail: string, { id }: FastifyRequest, exception: unknown): void {
    const cause = exception instanceof Problem ? undefined : causeOf(exception);
    this.#said.say(`${detail}: ${cause}`, (unsaid) =>
      this.#logger.warn({ msg: 'a request was answered 503', detail, request_id: id, cause, suppressed: unsaid }),
    );
  }

  #noRoute(request: FastifyRequest): Problem {
    const path = request.url.split('?', 1)[0] ?? '';
    const allowed = this.routes.methodsAt(path);
    if (allowed.length === 0) return new Problem('route_not_found', `nothing is served at ${path}`);
    return new Problem('method_not_allowed', `${path} takes ${allowed.join(', ')}, not ${request.method}`, {
      headers: { Allow: allowed.join(', ') },
    });
  }
}

/** The body of a problem, as RFC 9457 and this API have it. */
export function problemBody(problem: Problem, request: Pick<FastifyRequest, 'id' | 'url'>): Record<string, unknown> {
  return {
    type: `/problems/${problem.code}`,
    title: PROBLEMS[problem.code].title,
    status: problem.status,
    detail: cut(problem.detail, MOST_DETAIL),
    instance: uriReference(request.url.split('?', 1)[0]!.slice(0, MOST_PATH)),
    code: problem.code,
    request_id: request.id,
    ...(problem.extras.errors && { errors: listable(problem.extras.errors) }),
    ...problem.extras.members,
  };
}

function tooLarge(bytes: number | undefined): Problem {
  return new Problem('too_large', `the body is larger than the ${(bytes ?? 0) / 1024} KiB that this operation takes`);
}

/** Nobody reads so long a sentence, and it may repeat what was sent. Cut by code point: half of a surrogate pair is no text. */
function cut(text: string, most: number): string {
  if (Buffer.byteLength(JSON.stringify(text)) <= most) return text;
  let short = [...text.slice(0, most)];
  while (Buffer.byteLength(JSON.stringify(short.join(''))) > most) short = short.slice(0, short.length >> 1);
  return `${short.join('')}…`;
}

/** The path as it was sent, but for characters that no URI may have (RFC 3986), which a client may send all the same. */
function uriReference(path: string): string {
  return path.replace(/%(?![0-9a-f]{2})|[^\w\-.~:/?#@!$&'()*+,;=%]/gi, (one) => {
    const bytes = [...Buffer.from(one, 'latin1')];
    return bytes.map((byte) => `%${byte.toString(16).toUpperCase().padStart(2, '0')}`).join('');
  });
}

/** 503: the database is away, or the server is starting or stopping. Every operation may be repeated. */
export function unavailable(detail: string): Problem {
  return new Problem('unavailable', detail, { headers: { 'Retry-After': String(RETRY_AFTER_SECONDS) } });
}

function statusOf(exception: unknown): number {
  if (exception instanceof HttpException) return exception.getStatus();
  const status = (exception as { statusCode?: unknown } | null)?.statusCode;
  return typeof status === 'number' ? status : 500;
}

/** Terminus answers a failed check with an exception that carries its report. */
function isHealthReport(exception: unknown): exception is HttpException {
  if (!(exception instanceof HttpException)) return false;
  const body = exception.getResponse();
  return typeof body === 'object' && body !== null && 'details' in body && 'info' in body;
}

declare module 'fastify' {
  interface FastifyRequest {
    /** Why it was refused, for the line in the log. */
    problemCode?: ProblemCode;
  }
}

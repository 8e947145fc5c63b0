import type { LoggerService } from '@nestjs/common';
import type { FastifyBaseLogger } from 'fastify';

export interface DescribedError {
  type: string;
  message: string;
  stack: string;
  [detail: string]: unknown;
}

/** What a log line says about an error: never what was sent to the database, since a contract may be in it. */
export function describeError(error: Error): DescribedError {
  const { code, constraint, table, routine } = { ...error, ...driverError(error) } as Record<string, unknown>;
  const { message, stack = '' } = error;
  const cause = error.cause instanceof Error ? describeError(error.cause) : undefined;
  return { type: error.constructor.name, message, stack, code, constraint, table, routine, cause };
}

/** TypeORM wraps what the driver threw. */
function driverError(error: Error): object {
  const inner = (error as { driverError?: unknown }).driverError;
  return typeof inner === 'object' && inner !== null ? inner : {};
}

/** What Nest says of its own start: of interest to its developers only. */
const NEST_START = new Set(['NestFactory', 'InstanceLoader', 'RoutesResolver', 'RouterExplorer', 'NestApplication']);

/** Nest's log lines through Fastify's pino: JSON lines, one stream, one level. */
export class JsonLogger implements LoggerService {
  constructor(private readonly pino: FastifyBaseLogger) {}

  log(message: unknown, ...context: unknown[]): void {
    this.#write(NEST_START.has(String(context.at(-1))) ? 'debug' : 'info', message, context);
  }
  warn(message: unknown, ...context: unknown[]): void {
    this.#write('warn', message, context);
  }
  error(message: unknown, ...context: unknown[]): void {
    this.#write('error', message, context);
  }
  fatal(message: unknown, ...context: unknown[]): void {
    this.#write('fatal', message, context);
  }
  debug(message: unknown, ...context: unknown[]): void {
    this.#write('debug', message, context);
  }
  verbose(message: unknown, ...context: unknown[]): void {
    this.#write('trace', message, context);
  }

  /** Nest passes the context last, and for errors a stack before it. An object is a set of fields; its `msg` is the line. */
  #write(level: 'info' | 'warn' | 'error' | 'fatal' | 'debug' | 'trace', message: unknown, rest: unknown[]): void {
    const room = typeof rest.at(-1) === 'string' ? rest.at(-1) : undefined;
    const stack = rest.length > 1 && typeof rest[0] === 'string' ? rest[0] : undefined;
    if (message instanceof Error) this.pino[level]({ room, err: message }, message.message);
    else if (typeof message === 'object' && message !== null) this.pino[level]({ room, ...message });
    else this.pino[level]({ room, stack }, String(message));
  }
}

import { NestFactory } from '@nestjs/core';
import { FastifyAdapter, type NestFastifyApplication } from '@nestjs/platform-fastify';
import fastify, { LogController } from 'fastify';
import { AppModule } from './app.module.js';
import { serveDocs } from './docs/serve-docs.js';
import { toJson } from './domain/json/raw-json.js';
import { guardCallers } from './platform/access/guard-callers.js';
import { Tokens } from './platform/access/tokens.js';
import type { Config } from './platform/config/config.js';
import { limitSlowBodies } from './platform/http/body-chunks.js';
import { closeUnread } from './platform/http/caller-gone.js';
import { answerBadPath, answerNoHttp } from './platform/http/early-faults.js';
import { guardRequests } from './platform/http/guard-requests.js';
import { takeJson } from './platform/http/json-body.js';
import { KnownQueries } from './platform/http/known-queries.js';
import { ProblemFilter } from './platform/http/problem.filter.js';
import { protectPages } from './platform/http/protect-pages.js';
import { takeRawBodies } from './platform/http/raw-body.js';
import { Routes } from './platform/http/routes.js';
import { keepAnswers, requestId } from './platform/http/shared-headers.js';
import { validation } from './platform/http/validation.js';
import { Lifecycle } from './platform/lifecycle.js';
import { describeError, JsonLogger } from './platform/logging/json-logger.js';

/** How long the headers of a request may take to come. */
const HEADERS_SECONDS = 20;
/** How long the rest of a request that was answered already is read. */
const UNREAD_SECONDS = 4;
/** After so long without a word the other end of a connection is asked whether it is there. */
const KEEP_ALIVE_MS = 60_000;

/** The application with its routes, not listening yet and without a database. */
export async function createApplication(config: Config): Promise<NestFastifyApplication> {
  const server = fastify({
    logger: {
      level: config.logLevel,
      base: undefined,
      timestamp: () => `,"time":"${new Date().toISOString()}"`,
      serializers: { err: describeError },
    },
    logController: new LogController({ disableRequestLogging: true, requestIdLogLabel: 'request_id' }),
    genReqId: requestId,
    requestIdHeader: false,
    return503OnClosing: false,
    forceCloseConnections: false,
    // Faults that are met before there is a route: a path that cannot be decoded, bytes that are no HTTP.
    frameworkErrors: answerBadPath,
    clientErrorHandler: answerNoHttp,
    http: {
      requireHostHeader: false,
      headersTimeout: HEADERS_SECONDS * 1000,
      connectionsCheckingInterval: 5000,
      keepAlive: true,
      keepAliveInitialDelay: KEEP_ALIVE_MS,
    },
    routerOptions: { maxParamLength: 1000 },
  });
  // Left to itself, Node answers a missing Host and an unknown Expect without a body; here they meet the guards.
  server.server.on('checkExpectation', (request, response) => server.server.emit('request', request, response));
  closeUnread(server, UNREAD_SECONDS);
  protectPages(server);
  keepAnswers(server);
  takeJson(server);
  takeRawBodies(server);
  server.setReplySerializer(toJson);
  const routes = new Routes(server);
  const app = await NestFactory.create<NestFastifyApplication>(AppModule.register(config), new FastifyAdapter(server), {
    logger: new JsonLogger(server.log),
    bodyParser: false,
    abortOnError: false,
  });
  guardRequests(server, app.get(Lifecycle));
  guardCallers(server, app.get(Tokens), config);
  limitSlowBodies(server, config.bodyPauseSeconds);
  app.useGlobalGuards(new KnownQueries());
  app.useGlobalPipes(validation());
  app.useGlobalFilters(new ProblemFilter(routes));
  serveDocs(app);
  await app.init();
  return app;
}

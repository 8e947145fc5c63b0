import type { FastifyInstance, FastifyRequest } from 'fastify';
import type { Config } from '../config/config.js';
import { Problem } from '../http/problem.js';
import { RateLimit } from './rate-limit.js';
import { strangeOrigin } from './strange-origin.js';
import type { Role, KnownToken } from './token.js';
import type { Tokens } from './tokens.js';

/** Pages of packages, whose routes cannot carry `@AnybodyMayCall`. */
const PAGES = /^\/(docs(\/.*)?|openapi\.json)$/;

/**
 * Who may speak, decided before anything of a body is read: a token that is known (401), not too often (429), of a role
 * that may call the route (403). Whether the run or the node in question is the caller's own is asked where it is read.
 */
export function guardCallers(fastify: FastifyInstance, tokens: Tokens, config: Config): void {
  const limits = limitsOf(config.rateLimitPerSecond);

  // Deny by default: what says nothing of who may call it is not served, nor is anything else.
  fastify.addHook('onRoute', (route) => {
    if (PAGES.test(route.url)) route.config = { ...route.config, mayCall: 'anybody' };
    if (route.config?.mayCall !== undefined) return;
    throw new Error(`${[route.method].flat().join(', ')} ${route.url} does not say who may call it: see MayCall`);
  });

  fastify.addHook('onRequest', async (request) => {
    const { mayCall } = request.routeOptions.config;
    if (request.is404 || mayCall === 'anybody') return;
    if (tokens.open) {
      if (!config.insecure) refuseStrangers(request, config.host);
      // Everybody can name themselves as they like: only where they come from tells them apart.
      return limits?.refuse('calls', request.ip);
    }
    const token = bearerOf(request, tokens);
    if (token === undefined) {
      limits?.refuse('failures', request.ip);
      throw unauthenticated(request.headers.authorization);
    }
    request.token = token;
    limits?.refuse('calls', token.sha256.toString('hex'));
    if (!mayCall?.includes(token.role)) {
      throw new Problem('forbidden', `the role ${token.role} may not do this; ${(mayCall ?? []).join(' and ')} may`);
    }
  });
}

/** Where there is a limit: refuses what is one call too many. */
function limitsOf(perSecond: number): { refuse(what: 'calls' | 'failures', caller: string): void } | undefined {
  if (perSecond === 0) return undefined;
  const limits = { calls: new RateLimit(perSecond), failures: new RateLimit(perSecond) };
  return {
    refuse: (what, caller) => {
      const seconds = limits[what].take(caller);
      if (seconds === 0) return;
      const detail = `more than ${perSecond} ${what === 'calls' ? 'requests' : 'requests without a known token'} a second`;
      throw new Problem('rate_limited', detail, { headers: { 'Retry-After': String(seconds) } });
    },
  };
}

/** RFC 6750: a request without a token gets no error code about one. */
function unauthenticated(authorization: string | undefined): Problem {
  const sent = /^Bearer(?: |$)/i.test(authorization ?? '');
  const none = authorization === undefined ? 'no token was sent' : 'this is not a bearer token';
  return new Problem(
    'unauthenticated',
    `${sent ? 'the token is not known' : none}: send Authorization: Bearer <token>`,
    {
      headers: { 'WWW-Authenticate': sent ? 'Bearer error="invalid_token"' : 'Bearer' },
    },
  );
}

function bearerOf({ headers }: FastifyRequest, tokens: Tokens): KnownToken | undefined {
  const [, presented] = /^Bearer +([A-Za-z0-9\-._~+/]+=*) *$/i.exec(headers.authorization ?? '') ?? [];
  return presented === undefined ? undefined : tokens.find(presented);
}

function refuseStrangers({ method, headers }: FastifyRequest, listensOn: string): void {
  const {
    host,
    origin,
    'sec-fetch-site': site,
    'sec-fetch-mode': mode,
  } = headers as Record<string, string | undefined>;
  const why = strangeOrigin({ method, host, origin, site, mode }, listensOn);
  if (why === undefined) return;
  throw new Problem('forbidden', `${why}: a server without tokens serves only this machine and its own pages`);
}

declare module 'fastify' {
  interface FastifyContextConfig {
    /** Which roles may call the route. */
    mayCall?: 'anybody' | Role[];
  }
}

import { spawnSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { gunzipSync } from 'node:zlib';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import type { FastifyInstance } from 'fastify';
import { PROBLEMS } from '../../src/domain/problem-codes.js';
import { createDatabase, type TestDatabase } from '../support/database.js';
import { fetchRaw, sender } from '../support/http.js';
import { type DocumentedOperation, OPENAPI_TEXT, OPERATIONS } from '../support/openapi.js';
import { expectProblem } from '../support/problem.js';
import { serverSuite } from '../support/server-suite.js';
import { type SpawnedServer, spawnServer } from '../support/spawned-server.js';

/** Every code that the description of the API knows, with its status. */
const CODES = {
  invalid_contract: 400,
  invalid_request: 400,
  unauthenticated: 401,
  forbidden: 403,
  not_answerer: 403,
  not_found: 404,
  route_not_found: 404,
  method_not_allowed: 405,
  not_claimed: 409,
  stale_lease: 409,
  stale_instance: 409,
  offset_gap: 409,
  not_asked: 409,
  node_in_use: 409,
  not_sealed: 409,
  run_over: 410,
  version_mismatch: 412,
  too_large: 413,
  unsupported_media_type: 415,
  range_not_satisfiable: 416,
  rate_limited: 429,
  unsatisfiable: 422,
  too_wide: 422,
  not_promised: 422,
  run_id_taken: 422,
  schema_violation: 422,
  internal: 500,
  unavailable: 503,
};

/** `GET /v1/runs/{run_id}` of every route: Fastify prints them as a tree, four columns for each level. */
function servedRoutes(fastify: FastifyInstance): string[] {
  const above: string[] = [];
  return fastify
    .printRoutes({ commonPrefix: false })
    .split('\n')
    .flatMap((line) => {
      const [, indent, part, methods] = /^(.*?)[├└]── (.*) \((.*)\)$/.exec(line) ?? [];
      if (indent === undefined || part === undefined || methods === undefined) return [];
      const level = indent.length / 4;
      above.splice(level, Infinity, part);
      const path = above.join('').replaceAll(/:(\w+)/g, '{$1}');
      return methods.split(', ').map((method) => `${method} ${path}`);
    });
}

describe('what is served', () => {
  const server = serverSuite();
  it('is what openapi.json describes, and the other way round', () => {
    const routes = servedRoutes(server.mediator.app.getHttpAdapter().getInstance());
    // HEAD is served wherever GET is; the pages that describe the rest do not list themselves.
    const listed = routes.filter((route) => !/^HEAD |^GET \/(docs|openapi\.json)/.test(route));
    const described = OPERATIONS.map(({ method, path }) => `${method.toUpperCase()} ${path}`);
    expect(listed.sort()).toEqual(described.sort());
  });

  it('knows every code, and no other', () => {
    expect(Object.fromEntries(Object.entries(PROBLEMS).map(([code, { status }]) => [code, status]))).toEqual(CODES);
  });

  it.each(Object.entries(CODES))('explains %s', async (code, status) => {
    const { status: answered, body } = await server.send('GET', `/problems/${code}`);
    expect(answered).toBe(200);
    const sentence = expect.stringMatching(/\w+ \w+.*\.$/s);
    expect(body).toEqual({ code, status, title: expect.stringMatching(/\w/), caller: sentence, operator: sentence });
  });

  it.each([
    ['text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8', 'text/html'],
    ['text/html', 'text/html'],
    ['text/html;q=0.5, application/json', 'application/json'],
    ['application/json', 'application/json'],
    ['*/*', 'application/json'],
    ['image/png', 'application/json'],
    ['', 'application/json'],
  ])('explains to who accepts %j in %s', async (accept, type) => {
    const { status, headers } = await server.send('GET', '/problems/not_sealed', { headers: { accept } });
    expect([status, headers.get('content-type')?.split(';')[0], headers.get('vary')]).toEqual([200, type, 'Accept']);
    expect(headers.get('cache-control')).toBe('public, max-age=3600');
  });

  it.each(Object.keys(CODES))('explains %s on a page that runs nothing and is read anywhere', async (code) => {
    const { body } = await server.send<string>('GET', `/problems/${code}`, { headers: { accept: 'text/html' } });
    expect(body).toContain(`<strong>${code}</strong>`);
    expect(body).toMatch(/<meta name="viewport" content="width=device-width/);
    expect(body).not.toMatch(/<script|javascript:|`|\son\w+=/);
    const links = [...body.matchAll(/href="([^"]*)"/g)].map(([, path]) => path);
    const others = Object.keys(CODES).filter((other) => other !== code);
    expect(links.sort()).toEqual(['/docs', ...others.map((other) => `/problems/${other}`)].sort());
  });

  it('refuses a browser as it refuses everybody', async () => {
    const answer = await server.send('GET', '/problems/x', { headers: { accept: 'text/html' } });
    expectProblem(answer, 404, 'not_found', '/problems/x');
  });

  it.each(['x', 'constructor', 'toString'])('has no explanation of %s', async (code) => {
    expectProblem(await server.send('GET', `/problems/${code}`), 404, 'not_found', `/problems/${code}`);
  });

  it('begins with an index', async () => {
    const { status, body } = await server.send('GET', '/');
    expect(status).toBe(200);
    expect(body).toEqual({ name: 'mediator', version: expect.any(String), docs: '/docs', openapi: '/openapi.json' });
  });
});

describe('the compiled program', () => {
  let database: TestDatabase;
  let server: SpawnedServer;
  let url: string;
  beforeAll(async () => {
    database = await createDatabase();
    server = spawnServer({ DATABASE_URL: database.url });
    url = await server.url();
  }, 60_000);
  afterAll(async () => {
    await server.stop();
    await database.drop();
  });

  it('serves the committed document, byte for byte', async () => {
    const response = await fetch(`${url}/openapi.json`);
    expect(response.status).toBe(200);
    expect(response.headers.get('content-type')).toMatch(/^application\/json(;|$)/);
    expect(await response.text()).toBe(OPENAPI_TEXT);
  });

  it.each([
    ['gzip', 'gzip'],
    ['gzip, deflate, br, zstd', 'gzip'],
    ['br, *;q=0.5', 'gzip'],
    ['gzip;q=0', null],
    ['gzip;q=0.5, identity', null],
    ['br', null],
    ['', null],
    [undefined, null],
  ])('serves it to who accepts the coding %j as %j, and again as 304', async (accepted, coding) => {
    const headers: Record<string, string> = accepted === undefined ? {} : { 'accept-encoding': accepted };
    const whole = await fetchRaw(`${url}/openapi.json`, headers);
    expect(whole.headers).toMatchObject({ vary: 'Accept-Encoding', 'cache-control': 'no-cache' });
    expect([whole.status, whole.headers['content-encoding'] ?? null]).toEqual([200, coding]);
    expect((coding === 'gzip' ? gunzipSync(whole.body) : whole.body).toString()).toBe(OPENAPI_TEXT);
    expect(whole.headers['content-length']).toBe(String(whole.body.length));
    expect(whole.body.length).toBeLessThan(OPENAPI_TEXT.length / (coding === 'gzip' ? 6 : 0.9));

    const { etag } = whole.headers;
    const again = await fetchRaw(`${url}/openapi.json`, { ...headers, 'if-none-match': etag! });
    expect(again).toMatchObject({ status: 304, headers: { etag, vary: 'Accept-Encoding' }, body: Buffer.alloc(0) });
    expect((await fetchRaw(`${url}/openapi.json`, { ...headers, 'if-none-match': '"x"' })).status).toBe(200);
    expect(await fetchRaw(`${url}/openapi.json`, headers, 'HEAD')).toMatchObject({
      status: 200,
      headers: { etag, 'content-length': String(whole.body.length) },
      body: Buffer.alloc(0),
    });
  });

  it.each(['/docs', '/docs/', '/docs/index.html'])('shows it at %s', async (path) => {
    const { status, headers, body } = await sender(url)<string>('GET', path);
    expect(status).toBe(200);
    expect(headers.get('content-type')).toMatch(/^text\/html/);
    expect(body).toContain('<title>Mediator API</title>');
    expect(body).toMatch(/<meta name="viewport" content="width=device-width/);
  });

  it('gives the pages their program, their style and the document', async () => {
    const { body } = await sender(url)<string>('GET', '/docs/swagger-ui-init.js');
    expect(body).toMatch(/"swaggerUrl": "\/openapi\.json"/);
    expect(body).toMatch(/"persistAuthorization": true/);
    for (const file of ['swagger-ui-bundle.js', 'swagger-ui-standalone-preset.js', 'swagger-ui.css']) {
      expect(await sender(url)('GET', `/docs/${file}`)).toMatchObject({ status: 200 });
    }
  });
});

describe('npm run openapi', () => {
  const script = join(process.cwd(), 'scripts/openapi.mjs');
  const run = (...args: string[]) => spawnSync(process.execPath, [script, ...args], { encoding: 'utf8' });
  let folder: string;
  beforeAll(() => {
    folder = mkdtempSync(join(tmpdir(), 'mediator-openapi-'));
  });
  afterAll(() => rmSync(folder, { recursive: true }));

  it('finds no drift', () => {
    expect(run('--check')).toMatchObject({ status: 0, stdout: '', stderr: '' });
  });

  it('writes the document', () => {
    const file = join(folder, 'written.json');
    expect(run(file)).toMatchObject({ status: 0, stdout: '', stderr: '' });
    expect(readFileSync(file, 'utf8')).toBe(OPENAPI_TEXT);
  });

  it('says what to do where a document is not what is served, and changes nothing', () => {
    const file = join(folder, 'drifted.json');
    const drifted = OPENAPI_TEXT.replace('submitRun', 'sendRun');
    writeFileSync(file, drifted);
    const { status, stderr } = run('--check', file);
    expect(status).toBe(1);
    expect(stderr).toMatch(/drifted\.json is not what .*npm run openapi.*\n$/);
    expect(readFileSync(file, 'utf8')).toBe(drifted);
  });
});

/**
 * Somebody opens /docs of a server that has nothing yet, and executes what stands there, as it stands there. Only the
 * nonce of the lease cannot stand there: it is taken from the answer to the claim.
 */
const ANSWERED = {
  advertiseNode: 200,
  listNodes: 200,
  getNode: 200,
  holdNode: 200,
  liftHold: 200,
  listCapabilities: 200,
  submitRun: 201,
  listRuns: 200,
  dryRun: 200,
  getRun: 200,
  getQueue: 200,
  claimStep: 200,
  appendLog: 204,
  readLog: 200,
  uploadOutput: 204,
  reportResult: 200,
  listAsks: 200,
  answerAsk: 200,
  downloadBlob: 200,
  cancelRun: 200,
  downloadRecord: 200,
  listGrants: 200,
  // There is none that is gone.
  forgetNode: 404,
  getServerInfo: 200,
  explainProblem: 200,
  livez: 200,
  readyz: 200,
  metrics: 200,
};

describe('the examples of the document, one after the other', () => {
  const server = serverSuite();

  /** As Swagger UI fills a request in: examples that stand beside a parameter, and defaults. */
  async function execute({ path, method, operation }: DocumentedOperation, nonce: string): Promise<Response> {
    const url = new URL(server.url);
    url.pathname = path;
    const headers: Record<string, string> = {};
    for (const { name, in: place, required, example, schema } of operation.parameters) {
      const value = name === 'Mediator-Lease' ? nonce : (example ?? schema.example ?? schema.default);
      expect({ name, missing: required === true && value === undefined }).toEqual({ name, missing: false });
      if (value === undefined) continue;
      if (place === 'path') url.pathname = url.pathname.replace(`%7B${name}%7D`, String(value));
      if (place === 'query') url.searchParams.set(name, String(value));
      if (place === 'header') headers[name] = String(value);
    }
    const [type, media] = Object.entries<any>(operation.requestBody?.content ?? {})[0] ?? [];
    const body = media && Object.values<any>(media.examples)[0].value;
    if (type !== undefined) headers['content-type'] = type;
    return fetch(url, {
      method: method.toUpperCase(),
      headers,
      ...(media && { body: typeof body === 'string' ? body : JSON.stringify(body) }),
    });
  }

  it('do what the document promises, each of them', async () => {
    const answered: Record<string, number> = {};
    const bodies: Record<string, any> = {};
    for (const one of OPERATIONS) {
      const { operationId } = one.operation;
      const answer = await execute(one, bodies.claimStep?.lease.nonce);
      const text = await answer.text();
      answered[operationId] = answer.status;
      if (answer.headers.get('content-type')?.includes('json')) bodies[operationId] = JSON.parse(text);
    }
    expect(answered).toEqual(ANSWERED);
    expect(bodies.submitRun).toMatchObject({ state: 'RUNNING', assigned: [{ as: 'builder' }, { as: 'board' }] });
    expect(bodies.reportResult).toMatchObject({ step_state: 'DONE', run_state: 'RUNNING' });
    expect(bodies.listAsks.items).toMatchObject([{ id: 'approve', can_answer: true }]);
    expect(bodies.cancelRun).toMatchObject({ state: 'CANCELLED', record: { state: 'SEALED' } });
    expect(await server.violations()).toEqual([]);
  });

  it('answer a submission of the same contract with the run it made, not with a refusal', async () => {
    const submitRun = OPERATIONS.find(({ operation }) => operation.operationId === 'submitRun')!;
    expect((await execute(submitRun, '')).status).toBe(200);
  });
});

import { spawnSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import type { FastifyInstance } from 'fastify';
import { PROBLEMS } from '../../../src/domain/problem-codes.js';
import { createDatabase, type TestDatabase } from '../../support/database.js';
import { sender } from '../../support/http.js';
import { startTestMediator, type TestMediator } from '../../support/mediator.js';
import { OPENAPI_TEXT, OPERATIONS } from '../../support/openapi.js';
import { expectProblem } from '../../support/problem.js';
import { type SpawnedServer, spawnServer } from '../../support/spawned-server.js';

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
  not_sealed: 409,
  run_over: 410,
  too_large: 413,
  unsupported_media_type: 415,
  range_not_satisfiable: 416,
  rate_limited: 429,
  unsatisfiable: 422,
  too_wide: 422,
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
  let server: TestMediator;
  beforeAll(async () => {
    server = await startTestMediator();
  });
  afterAll(() => server.close());

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

  it('explains in JSON also to a browser', async () => {
    const { headers } = await server.send('GET', '/problems/not_sealed', { headers: { accept: 'text/html' } });
    expect(headers.get('content-type')).toMatch(/^application\/json/);
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

  it.each(['/docs', '/docs/', '/docs/index.html'])('shows it at %s', async (path) => {
    const { status, headers, body } = await sender(url)<string>('GET', path);
    expect(status).toBe(200);
    expect(headers.get('content-type')).toMatch(/^text\/html/);
    expect(body).toContain('<title>Mediator API</title>');
  });

  it('gives the pages their program, their style and the document', async () => {
    const { body } = await sender(url)<string>('GET', '/docs/swagger-ui-init.js');
    expect(body).toContain('"operationId": "submitRun"');
    for (const file of ['swagger-ui-bundle.js', 'swagger-ui-standalone-preset.js', 'swagger-ui.css']) {
      expect((await fetch(`${url}/docs/${file}`)).status).toBe(200);
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

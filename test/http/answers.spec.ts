import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { readConfig } from '../../src/platform/config/read-config.js';
import { type Mediator, startMediator } from '../../src/start-mediator.js';
import { R } from '../support/contracts.js';
import { createDatabase, type TestDatabase } from '../support/database.js';
import { fetchRaw, type Send, sender } from '../support/http.js';
import { OPERATIONS } from '../support/openapi.js';
import { hold } from '../support/failpoints.js';
import { expectProblem } from '../support/problem.js';
import { serverSuite } from '../support/server-suite.js';
import { upload, writeLog } from '../support/uploads.js';

/** What is served to GET, of a run that is over and one that waits. */
const READ = [
  '/',
  '/livez',
  '/metrics',
  '/openapi.json',
  '/problems/not_sealed',
  '/v1/runs',
  '/v1/runs/over',
  '/v1/runs/over/record',
  '/v1/runs/over/blobs/out',
  '/v1/runs/over/steps/1/log',
  '/v1/queue',
  '/v1/nodes',
  '/v1/capabilities',
  '/v1/asks',
];
/** Headers that tell of the moment or of the connection. */
const OF_NOW = ['date', 'x-request-id', 'connection', 'keep-alive', 'transfer-encoding'];

describe('every answer', () => {
  const server = serverSuite();
  beforeAll(async () => {
    const node = server.node('n1', [{ role: 'x' }]);
    await node.advertise();
    await server.send('POST', '/v1/runs', { body: R('x', { run_id: 'over' }) });
    const claim = (await node.claim()).body;
    await writeLog(server, claim, 'a line\n');
    await upload(server, claim, 'out', 'bytes');
    await node.report(claim);
    for (const run_id of ['a', 'b']) await server.send('POST', '/v1/runs', { body: R('x', { run_id }) });
  });
  const cacheControl = async (method: string, path: string, headers: Record<string, string> = {}) => {
    const answer = await fetchRaw(server.url + path, headers, method);
    return [answer.status, answer.headers['cache-control']];
  };

  it.each([
    ['GET', '/v1/runs', [200, 'no-store']],
    ['GET', '/v1/queue', [200, 'no-store']],
    ['GET', '/v1/nodes', [200, 'private, no-cache']],
    ['GET', '/v1/asks', [200, 'no-store']],
    ['GET', '/v1/runs/over/steps/1/log', [200, 'no-store']],
    ['POST', '/v1/runs/over/cancel', [200, 'no-store']],
    ['GET', '/v1/runs/over', [200, 'private, no-cache']],
    ['HEAD', '/v1/runs/over', [200, 'private, no-cache']],
    ['GET', '/v1/runs/over/record', [200, 'private, no-cache']],
    ['GET', '/v1/runs/over/blobs/out', [200, 'private, no-cache']],
    ['GET', '/v1/runs/a/record', [409, 'no-store']],
    ['GET', '/v1/runs/none', [404, 'no-store']],
    ['GET', '/v1/nothing', [404, 'no-store']],
    ['PUT', '/v1/runs', [405, 'no-store']],
    ['GET', '/v1/runs/%FF', [400, 'no-store']],
    ['GET', `/v1/runs/${'a'.repeat(20_000)}`, [400, 'no-store']],
    ['GET', '/livez', [200, 'no-store']],
    ['GET', '/metrics', [200, 'no-store']],
    ['GET', '/', [200, 'no-store']],
    ['GET', '/openapi.json', [200, 'no-cache']],
  ])('says whether it may be kept: %s %.40s', async (method, path, expected) => {
    expect(await cacheControl(method, path)).toEqual(expected);
  });

  it('that is kept is asked for with its tag, and 304 says that it may be kept on', async () => {
    for (const path of ['/v1/runs/over', '/v1/runs/over/record', '/v1/runs/over/blobs/out']) {
      const { etag } = (await fetchRaw(server.url + path, {})).headers;
      const again = await fetchRaw(server.url + path, { 'if-none-match': etag! });
      expect([again.status, again.headers.etag, again.headers['cache-control']]).toEqual([
        304,
        etag,
        'private, no-cache',
      ]);
    }
    const part = await fetchRaw(`${server.url}/v1/runs/over/blobs/out`, { range: 'bytes=0-1' });
    expect([part.status, part.headers['cache-control']]).toEqual([206, 'private, no-cache']);
    const outside = await fetchRaw(`${server.url}/v1/runs/over/blobs/out`, { range: 'bytes=99-' });
    expect([outside.status, outside.headers['cache-control'], outside.headers['content-disposition']]).toEqual([
      416,
      'no-store',
      undefined,
    ]);
  });

  it.each(READ)('to HEAD is the one to GET without its body: %s', async (path) => {
    const [get, head] = [await fetchRaw(server.url + path, {}), await fetchRaw(server.url + path, {}, 'HEAD')];
    for (const name of [...OF_NOW, ...(path === '/metrics' ? ['content-length'] : [])]) {
      delete get.headers[name];
      delete head.headers[name];
    }
    expect(get.body.length).toBeGreaterThan(0);
    expect(head).toEqual({ ...get, body: Buffer.alloc(0) });
  });

  it.each(READ.filter((path) => path.startsWith('/v1')))('is the same whatever Accept says: %s', async (path) => {
    const types = await Promise.all(
      ['*/*', 'text/html', 'image/png;q=0.1', ''].map(async (accept) => {
        const { status, headers } = await fetchRaw(server.url + path, { accept });
        return [status, headers['content-type']];
      }),
    );
    expect(new Set(types.map((one) => JSON.stringify(one))).size).toBe(1);
    expect(types[0]![0]).toBe(200);
  });

  it.each(READ.filter((path) => path !== '/'))('is none at a path that ends with a slash: %s/', async (path) => {
    expectProblem(await server.send('GET', `${path}/`), 404, 'route_not_found', `${path}/`);
  });

  it.each([...READ, '/v1/runs/over/cancel', '/v1/nodes/n1/claim', '/v1/runs/over/steps/1/result'])(
    'to OPTIONS names the methods: %s',
    async (path) => {
      const answer = await server.send('OPTIONS', path);
      expectProblem(answer, 405, 'method_not_allowed', path);
      expect(answer.headers.get('allow')).toMatch(/^[A-Z]+(, [A-Z]+)*$/);
    },
  );
});

interface Asked {
  name: string;
  method: string;
  path: string;
  known: string[];
  /** All but lists. */
  once: string[];
  whole: string[];
}

const ASKED: Asked[] = OPERATIONS.map(({ method, path, operation }) => {
  const queries = (operation.parameters ?? []).filter((parameter: any) => parameter.in === 'query');
  return {
    name: operation.operationId,
    method: method.toUpperCase(),
    path: path.replace(/\{(\w+)\}/g, (_all: string, name: string) => (name === 'seq' ? '1' : 'none')),
    known: queries.map((parameter: any) => parameter.name),
    once: queries.filter(({ schema }: any) => schema.type !== 'array').map((parameter: any) => parameter.name),
    whole: queries.filter(({ schema }: any) => schema.type === 'integer').map((parameter: any) => parameter.name),
  };
});
const UNDER_V1 = ASKED.filter(({ path }) => path.startsWith('/v1/'));

describe('what is asked of an operation', () => {
  const server = serverSuite();
  it.each(UNDER_V1)(
    'L10: an unknown parameter of $name is 400, and names the known ones',
    async ({ method, path, known }) => {
      for (const unknown of ['stat', '__proto__', 'constructor']) {
        const answer = await server.send(method, `${path}?${unknown}=x`);
        const { detail, errors } = expectProblem(answer, 400, 'invalid_request', path);
        expect(errors).toEqual([{ pointer: `/${unknown}`, detail: expect.stringMatching(/is not a parameter/) }]);
        for (const name of known.length > 0 ? known : ['takes none']) expect(detail).toContain(name);
      }
    },
  );

  it.each(UNDER_V1.filter(({ once }) => once.length > 0))(
    'L10: $name takes each of its parameters once, but for lists',
    async ({ method, path, once: names }) => {
      for (const name of names) {
        const { errors } = expectProblem(
          await server.send(method, `${path}?${name}=1&${name}=1`),
          400,
          'invalid_request',
        );
        expect(errors).toEqual([{ pointer: `/${name}`, detail: 'must be given once' }]);
        const once = await server.send(method, `${path}?${name}=1`);
        expect(String(once.body?.detail)).not.toMatch(/is not a parameter|given once/);
      }
    },
  );

  it.each(UNDER_V1.filter(({ whole }) => whole.length > 0))(
    'a whole number that $name takes is written in digits',
    async ({ method, path, whole }) => {
      for (const name of whole) {
        for (const written of ['', '1e0', '0x1', '%201', '1.0', '%2B1', '-1']) {
          const answer = await server.send(method, `${path}?${name}=${written}`);
          expect(expectProblem(answer, 400, 'invalid_request', path).errors[0].pointer).toBe(`/${name}`);
        }
      }
    },
  );

  it('probes and pages ignore what they do not know', async () => {
    const pages = ASKED.filter(({ path }) => !path.startsWith('/v1/'));
    expect(pages.length).toBeGreaterThan(4);
    for (const { method, path } of pages) {
      const spelt = path.replace('none', 'not_found');
      expect([path, (await server.send(method, `${spelt}?stat=x&stat=y`)).status]).toEqual([path, 200]);
    }
  });

  it('nothing is said of parameters to who may not ask, or asks for what is not served', async () => {
    expectProblem(await server.send('GET', '/v1/nothing?stat=x'), 404, 'route_not_found');
    expectProblem(await server.send('DELETE', '/v1/queue?stat=x'), 405, 'method_not_allowed');
  });
});

describe('a server that is starting', () => {
  let database: TestDatabase;
  let send: Send;
  let started: Promise<Mediator>;
  let startUpWake: ReturnType<typeof hold>;
  beforeAll(async () => {
    database = await createDatabase();
    startUpWake = hold('sweep.begin');
    const config = readConfig({ DATABASE_URL: database.url, PORT: '0', LOG_LEVEL: 'silent' });
    const listening = new Promise<string>((resolve) => {
      started = startMediator(config, resolve);
    });
    send = sender(await listening);
    await startUpWake.reached;
  });
  afterAll(async () => {
    startUpWake.letGo();
    await (await started).stop();
    await database.drop();
  });

  it.each(['/v1/runs', '/v1/runs?limit=1', '/v1/nothing', '/%761/runs'])(
    'serves nothing at %s before its start-up wake is over, however it is spelt',
    async (path) => {
      const answer = await send('GET', path);
      expectProblem(answer, 503, 'unavailable');
      expect(answer.headers.get('retry-after')).toBe('1');
    },
  );

  it('lives, is not ready, and explains itself', async () => {
    expect((await send('GET', '/livez')).status).toBe(200);
    expect((await send('GET', '/readyz')).status).toBe(503);
    expect((await send('GET', '/problems/unavailable')).status).toBe(200);
    startUpWake.letGo();
    await started;
    expect((await send('GET', '/readyz')).status).toBe(200);
    expect((await send('GET', '/%761/runs')).status).toBe(200);
  });
});

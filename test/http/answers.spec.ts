import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { R } from '../support/contracts.js';
import { fetchRaw } from '../support/http.js';
import { startTestMediator, type TestMediator } from '../support/mediator.js';
import { expectProblem } from '../support/problem.js';
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
  let server: TestMediator;
  beforeAll(async () => {
    server = await startTestMediator();
    const node = server.node('n1', [{ role: 'x' }]);
    await node.advertise();
    await server.send('POST', '/v1/runs', { body: R('x', { run_id: 'over' }) });
    const claim = (await node.claim()).body;
    await writeLog(server, claim, 'a line\n');
    await upload(server, claim, 'out', 'bytes');
    await node.report(claim);
    for (const run_id of ['a', 'b']) await server.send('POST', '/v1/runs', { body: R('x', { run_id }) });
  });
  afterAll(async () => {
    expect(await server.violations()).toEqual([]);
    await server.close();
  });

  const cacheControl = async (method: string, path: string, headers: Record<string, string> = {}) => {
    const answer = await fetchRaw(server.url + path, headers, method);
    return [answer.status, answer.headers['cache-control']];
  };

  it.each([
    ['GET', '/v1/runs', [200, 'no-store']],
    ['GET', '/v1/queue', [200, 'no-store']],
    ['GET', '/v1/nodes', [200, 'no-store']],
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

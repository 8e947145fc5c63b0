import { beforeAll, describe, expect, it } from '@jest/globals';
import { R } from '../../support/contracts.js';
import { expectProblem } from '../../support/problem.js';
import { submit } from '../../support/queue.js';
import { serverSuite } from '../../support/server-suite.js';

describe('GET /v1/nodes', () => {
  const server = serverSuite();
  const list = (query = '', headers = {}): Promise<any> => server.send('GET', `/v1/nodes${query}`, { headers });
  const idsOf = async (query: string): Promise<string[]> => {
    const { status, body } = await list(query);
    expect([query, status]).toEqual([query, 200]);
    return body.items.map(({ node_id }: any) => node_id);
  };
  const BOARD = { capability: 'board', attrs: { arch: 'arm64', slot: 'a:1' } };
  const HOST = { capability: 'host' };

  beforeAll(async () => {
    const advertise = (node_id: string, ...capabilities: object[]): Promise<unknown> =>
      server.send('POST', '/v1/nodes', { body: { node_id, capabilities } });
    await advertise('busy', { capability: 'board', attrs: { role: 'busy' } }, HOST);
    await advertise('draining', BOARD);
    await advertise('free-1', BOARD, HOST);
    await advertise(
      'free-2',
      { capability: 'board', attrs: { arch: 'x86' } },
      { capability: 'host', attrs: { slot: 'a:1' } },
    );
    await advertise('held', BOARD);
    await advertise('silent', BOARD);
    await advertise('gone', BOARD);
    await submit(server, R('busy', { run_id: 'r' }));
    for (const held of ['busy', 'draining', 'held', 'silent'])
      await server.send('PUT', `/v1/nodes/${held}/hold`, { body: { reason: 'loud' } });
    await server.send('POST', '/v1/nodes', { body: { node_id: 'draining', capabilities: [BOARD], drain: 'graceful' } });
    await server.database.sql("UPDATE nodes SET expires_at = clock_timestamp() WHERE node_id IN ('silent', 'gone')");
    expect((await server.send('DELETE', '/v1/nodes/gone')).status).toBe(204);
  });

  it.each([
    ['', ['busy', 'draining', 'free-1', 'free-2', 'held']],
    ['?all=true', ['busy', 'draining', 'free-1', 'free-2', 'held', 'silent']],
    ['?state=silent', ['silent']],
    ['?state=busy', ['busy']],
    ['?state=draining', ['draining']],
    ['?state=held', ['held']],
    ['?state=kept', []],
    ['?state=free', ['free-1', 'free-2']],
    ['?capability=host', ['busy', 'free-1', 'free-2']],
    ['?capability=nothing', []],
    ['?capability=host&state=free', ['free-1', 'free-2']],
    ['?attr=arch:arm64', ['draining', 'free-1', 'held']],
    ['?attr=arch:arm64&all=true', ['draining', 'free-1', 'held', 'silent']],
    ['?attr=slot:a:1', ['draining', 'free-1', 'free-2', 'held']],
    ['?attr=slot:a:1&capability=host', ['free-2']],
    ['?attr=slot:a:1&attr=arch:arm64', ['draining', 'free-1', 'held']],
    ['?attr=slot:a:1&attr=arch:x86', []],
    ['?attr=node_id:busy', ['busy']],
    ['?attr=node_id:busy&capability=host', ['busy']],
    ['?attr=node_id:busy&attr=arch:x86', []],
    ['?attr=arch:', []],
  ])('%s', async (query, wanted) => {
    expect(await idsOf(query)).toEqual(wanted);
  });

  it('pages by node_id without a hole while nodes come and go, and leads to the next page', async () => {
    const read: string[] = [];
    for (let path = '?limit=2&all=true'; path !== '';) {
      const { body, headers } = await list(path);
      expect(body.items.length).toBeLessThanOrEqual(2);
      read.push(...body.items.map(({ node_id }: any) => node_id));
      if (read.length === 2) await server.send('POST', '/v1/nodes', { body: { node_id: 'aaa', capabilities: [] } });
      const link = /^<\/v1\/nodes(.*)>; rel="next"$/.exec(headers.get('link') ?? '')?.[1] ?? '';
      expect(link === '').toBe(body.next === null);
      path = link;
    }
    expect(read).toEqual(['busy', 'draining', 'free-1', 'free-2', 'held', 'silent']);
    expect((await list()).body.next).toBeNull();
  });

  it('ends a page of large adverts at about 1 MiB, and has one of each size', async () => {
    const text = 'x'.repeat(200);
    const attrs = { a: text, b: text, c: text, d: text };
    const capabilities = Array.from({ length: 60 }, (_, at) => ({
      capability: 'large',
      attrs: { ...attrs, at: `${at}` },
    }));
    for (let at = 0; at < 30; at++) {
      const advert = { node_id: `large-${String(at).padStart(2, '0')}`, capabilities };
      expect((await server.send('POST', '/v1/nodes', { body: advert })).status).toBe(200);
    }
    const first = (await list('?capability=large&limit=200')).body;
    expect(first.items.length).toBeGreaterThan(15);
    expect(first.items.length).toBeLessThan(25);
    const second = (await list(`?capability=large&limit=200&cursor=${first.next}`)).body;
    expect([first.items.length + second.items.length, second.next]).toEqual([30, null]);
  });

  it('has a weak ETag: 304 until something that is shown changes', async () => {
    const { headers } = await list('?state=free');
    const etag = headers.get('etag');
    expect(etag).toMatch(/^W\/"[\w-]{43}"$/);
    expect(await list('?state=free', { 'if-none-match': etag })).toMatchObject({ status: 304, body: '' });
    await server.send('POST', '/v1/nodes', { body: { node_id: 'free-1', capabilities: [BOARD, HOST] } });
    expect((await list('?state=free', { 'if-none-match': etag })).status).toBe(200);
  });

  it.each([
    ['limit=0', '/limit'],
    ['limit=201', '/limit'],
    ['state=broken', '/state'],
    ['attr=arch', '/attr'],
    ['attr=:x', '/attr'],
    ['attr=arch:a&attr=arch:b', '/attr'],
    [Array.from({ length: 17 }, (_, at) => `attr=k${at}:v`).join('&'), '/attr'],
    ['capability=a&capability=b', '/capability'],
    ['all=perhaps', '/all'],
    ['node=n1', '/node'],
  ])('%s: 400 that says where', async (query, pointer) => {
    const answer = await list(`?${query}`);
    expectProblem(answer, 400, 'invalid_request', '/v1/nodes');
    expect(answer.body.errors).toMatchObject([{ pointer }]);
  });

  it.each(['x', 'bm8gbm9kZSBpZA'])('a cursor that it did not make is 400: %s', async (cursor) => {
    expectProblem(await list(`?limit=1&cursor=${cursor}`), 400, 'invalid_request', '/v1/nodes');
  });
});

import { afterAll, beforeAll, describe, expect, it, jest } from '@jest/globals';
import { createDatabase, type TestDatabase } from '../support/database.js';
import { type Answer, type Send, sender } from '../support/http.js';
import { besideNeighbour, expectUndisturbed } from '../support/neighbour.js';
import { expectProblem } from '../support/problem.js';
import { spawnServer, type SpawnedServer } from '../support/spawned-server.js';

jest.setTimeout(120_000);

const MOST_REFUSAL = 64 * 1024;
const many = (count: number, member: (n: number) => string): string =>
  Array.from({ length: count }, (_, n) => member(n)).join();
const keys = (count: number): string => `{${many(count, (n) => `"${n.toString(36)}":0`)}}`;
const attrs = (count: number): string => `{${many(count, (n) => `"a${n.toString(36)}":""`)}}`;
const advert = (entries: string): string => `{"node_id":"evil","capabilities":[${entries}]}`;

describe('what one caller sends', () => {
  let database: TestDatabase;
  let server: SpawnedServer;
  let url: string;
  let send: Send;
  const start = async (): Promise<void> => {
    server = spawnServer({ DATABASE_URL: database.url, MEDIATOR_RENEW_SECONDS: '3600' });
    url = await server.url();
    send = sender(url);
  };
  beforeAll(async () => {
    database = await createDatabase();
    await start();
    const capabilities = [{ capability: 'board', attrs: { role: 'neighbour' } }];
    await send('POST', '/v1/nodes', { body: { node_id: 'nb', capabilities } });
  });
  afterAll(async () => {
    expect(await server.stop()).toBe(0);
    await database.drop();
  });

  async function post(path: string, body: string): Promise<Answer> {
    const headers = { 'content-type': 'application/json', 'mediator-lease': 'x' };
    const response = await fetch(url + path, { method: 'POST', headers, body });
    const text = await response.text();
    expect(Buffer.byteLength(text)).toBeLessThan(MOST_REFUSAL);
    return { status: response.status, headers: response.headers, body: JSON.parse(text) };
  }

  const nodes = async (): Promise<string[]> =>
    (await send('GET', '/v1/nodes')).body.items.map((node: any) => node.node_id);

  it.each<[string, string, number]>([
    ['33 attributes in an entry', advert(`{"capability":"x","attrs":${attrs(33)}}`), 400],
    ['4,500 attributes in an entry', advert(`{"capability":"x","attrs":${attrs(4_500)}}`), 400],
    ['90,000 attributes in an entry', advert(`{"capability":"x","attrs":${attrs(90_000)}}`), 413],
    ['65 entries', advert(many(65, () => '{"capability":"x"}')), 400],
    ['21,000 entries', advert(many(21_000, () => '{}')), 400],
    ['300,000 entries', advert(many(300_000, () => '{}')), 413],
    ['1 MB', advert(`{"capability":"x","attrs":{"a":"${'x'.repeat(1_000_000)}"}}`), 413],
  ])('L1: an advert with %s is refused, and nothing else has changed', async (_what, body, status) => {
    const code = status === 413 ? 'too_large' : 'invalid_request';
    expectUndisturbed(
      await besideNeighbour(url, async () => {
        for (let n = 0; n < 3; n++) expectProblem(await post('/v1/nodes', body), status, code);
      }),
    );
    expect(await nodes()).toEqual(['nb']);
  });

  it.each<[string, string, string, number]>([
    ['a cancel', '/v1/runs/none/cancel', keys(110_000), 413],
    ['a result', '/v1/runs/none/steps/1/result', keys(110_000), 413],
    ['an answer', '/v1/runs/none/steps/1/answer', keys(110_000), 413],
    ['an advert', '/v1/nodes', keys(110_000), 413],
    ['a contract', '/v1/runs', keys(110_000), 413],
    ['a contract, as many as fit', '/v1/runs', keys(28_000), 400],
    ['an answer, as many as fit', '/v1/runs/none/steps/1/answer', keys(28_000), 404],
    ['a cancel, as many as fit', '/v1/runs/none/cancel', keys(2_000), 404],
    ['a result, as many as fit', '/v1/runs/none/steps/1/result', keys(7_000), 400],
  ])('L2: of unknown keys in %s nobody hears anything', async (_what, path, body, status) => {
    expectUndisturbed(
      await besideNeighbour(url, async () => {
        for (let n = 0; n < 5; n++) expect((await post(path, body)).status).toBe(status);
      }),
    );
  });

  it('L1: an advert that was stored before there was a limit stops nobody, also after a restart', async () => {
    const capabilities = `[{"capability":"x","attrs":${attrs(90_000)}}]`;
    await database.sql(
      `INSERT INTO nodes (node_id, label, capabilities, expires_at)
       SELECT 'old-' || n, 'old', $1::jsonb, clock_timestamp() + interval '1 h' FROM generate_series(1, 5) AS n`,
      [capabilities],
    );
    expectUndisturbed(await besideNeighbour(url, async () => void (await nodes())));
    expect(await server.stop()).toBe(0);
    await start();
    const old = Array.from({ length: 5 }, (_, n) => `old-${n + 1}`);
    expectUndisturbed(await besideNeighbour(url, async () => expect(await nodes()).toEqual(['nb', ...old])));
    const wanted = { requires: [{ as: 'a', capability: 'x' }], steps: [{ id: 's', uses: 'a', run: ['true'] }] };
    expect((await send('POST', '/v1/runs', { body: wanted })).status).toBe(422);
    // It speaks again, and is a node like any other.
    const body = { node_id: 'old-1', capabilities: [{ capability: 'x' }] };
    expect((await send('POST', '/v1/nodes', { body })).status).toBe(200);
    expect((await send('POST', '/v1/runs', { body: wanted })).status).toBe(201);
  });
});

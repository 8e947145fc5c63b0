import { afterAll, afterEach, beforeAll, describe, expect, it } from '@jest/globals';
import { R } from '../../support/contracts.js';
import type { Answer } from '../../support/http.js';
import { startTestMediator, type TestMediator } from '../../support/mediator.js';
import { cancel, show } from '../../support/queue.js';

describe('GET /v1/runs', () => {
  let server: TestMediator;
  beforeAll(async () => {
    server = await startTestMediator();
    await server.node('n1', [{ role: 'x' }]).advertise();
    // r1 is cancelled, r2 fails, r3 runs, r4 to r7 wait; r2 to r5 belong to one work, odd ones to paula.
    for (let n = 1; n <= 7; n++) {
      await submit(`r${n}`, n);
      if (n === 1) await cancel(server, 'r1');
      if (n === 2) await server.node('n1').work({ exit_code: 1 });
    }
  });
  afterEach(async () => {
    expect(await server.violations()).toEqual([]);
  });
  afterAll(() => server.close());

  const submit = (run_id: string, n: number): Promise<unknown> =>
    server.send('POST', '/v1/runs', {
      body: R('x', { run_id, ...(n >= 2 && n <= 5 && { work: { system: 'gerrit', change_id: '4711', patchset: n } }) }),
      headers: { 'mediator-principal': n % 2 === 1 ? 'paula' : 'quentin' },
    });
  const list = async (query = ''): Promise<any> => (await server.send('GET', `/v1/runs${query}`)).body;
  const ids = async (query: string): Promise<string[]> => (await list(query)).items.map((run: any) => run.run_id);

  it('shows every run, the newest first, as it is shown by itself but for its steps', async () => {
    const { items, next } = await list();
    expect(items.map((run: any) => run.run_id)).toEqual(['r7', 'r6', 'r5', 'r4', 'r3', 'r2', 'r1']);
    expect(next).toBeNull();
    for (const item of items) {
      const { steps, ...alone } = await show(server, item.run_id);
      expect(steps).toHaveLength(1);
      expect(item).toEqual(alone);
    }
    expect(items.map((run: any) => run.waiting?.position)).toEqual([4, 3, 2, 1, undefined, undefined, undefined]);
  });

  it.each([
    ['state=QUEUED', ['r7', 'r6', 'r5', 'r4']],
    ['state=RUNNING', ['r3']],
    ['state=FAILED', ['r2']],
    ['state=SUCCEEDED', []],
    ['work_id=gerrit:4711', ['r5', 'r4', 'r3', 'r2']],
    ['work_id=gerrit', []],
    ['principal=paula', ['r7', 'r5', 'r3', 'r1']],
    ['state=QUEUED&work_id=gerrit:4711&principal=paula', ['r5']],
  ])('?%s', async (query, wanted) => {
    expect(await ids(`?${query}`)).toEqual(wanted);
  });

  it('pages by a cursor that stays right while runs come and change state, and the Link header leads on', async () => {
    const seen: string[] = [];
    let path: string | undefined = '/v1/runs?principal=paula&limit=2';
    for (let page = 1; path !== undefined; page++) {
      const { headers, body }: Answer = await server.send('GET', path);
      seen.push(...body.items.map((run: any) => run.run_id));
      expect(body.items.length).toBeLessThanOrEqual(2);
      const link: string | null = headers.get('link');
      expect(link === null).toBe(body.next === null);
      path = /^<(\/v1\/runs\?[^>]*)>; rel="next"$/.exec(link ?? '')?.[1];
      const asked = path === undefined ? {} : Object.fromEntries(new URL(path, server.url).searchParams);
      expect(asked).toEqual(path === undefined ? {} : { principal: 'paula', limit: '2', cursor: body.next });
      // Runs that come meanwhile are newer: they move nothing on the pages to come.
      if (page <= 2) await submit(`new${page}`, 1);
    }
    expect(seen).toEqual(['r7', 'r5', 'r3', 'r1']);
    expect((await ids('?principal=paula&limit=3')).slice(0, 2)).toEqual(['new2', 'new1']);
  });

  it('pages runs of one and the same moment each once', async () => {
    await server.database.sql("UPDATE runs SET created_at = '2024-02-03 04:05:06.789012+00' WHERE ended_at IS NULL");
    const all: string[] = [];
    let cursor = '';
    do {
      const { items, next } = await list(`?limit=1&state=QUEUED${cursor}`);
      all.push(...items.map((run: any) => run.run_id));
      cursor = next && `&cursor=${next}`;
    } while (cursor !== null);
    expect(all).toEqual(['new2', 'new1', 'r7', 'r6', 'r5', 'r4']);
  });

  it.each([
    'limit=0',
    'limit=201',
    'limit=many',
    'limit=1.5',
    'state=DRY_RUN',
    'state=queued',
    'cursor=nonsense',
    ...[
      '2024-13-45 00:00:00+00|1',
      '2024-02-31 00:00:00+00|1',
      '2024-02-03 24:00:00+00|1',
      '0000-01-01 00:00:00+00|1',
      "2024-01-01 00:00:00+00|1'",
    ].map((place) => `cursor=${Buffer.from(place).toString('base64url')}`),
    'principal=a&principal=b',
  ])('?%s is a 400', async (query) => {
    expect(await server.send('GET', `/v1/runs?${query}`)).toMatchObject({
      status: 400,
      body: { code: 'invalid_request' },
    });
  });

  it('limit=200 is the most', async () => {
    expect((await server.send('GET', '/v1/runs?limit=200')).status).toBe(200);
  });

  it('a run is answered with its version as the ETag, and the version counts its changes', async () => {
    const { headers, body } = await server.send('GET', '/v1/runs/r3');
    expect(headers.get('etag')).toBe(`"${body.version}"`);
    const known = { headers: { 'if-none-match': `"${body.version}"` } };
    expect(await server.send('GET', '/v1/runs/r3', known)).toMatchObject({ status: 304, body: '' });
    const node = server.node('n1');
    const claimed = (await node.claim()).body;
    expect(claimed.run_id).toBe('r3');
    const afterClaim = (await show(server, 'r3')).version;
    expect(afterClaim).toBeGreaterThan(body.version);
    expect((await server.send('GET', '/v1/runs/r3', known)).status).toBe(200);
    await node.report(claimed);
    expect((await show(server, 'r3')).version).toBeGreaterThan(afterClaim);
  });
});

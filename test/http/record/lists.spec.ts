import { beforeAll, describe, expect, it } from '@jest/globals';
import { Database } from '../../../src/platform/database/database.js';
import { PAGE_BYTES } from '../../../src/platform/http/fill-page.js';
import { readRunPage } from '../../../src/runs/run-page.sql.js';
import { R } from '../../support/contracts.js';
import type { Answer } from '../../support/http.js';
import { cancel, show } from '../../support/queue.js';
import { serverSuite } from '../../support/server-suite.js';
import { upload } from '../../support/uploads.js';

describe('GET /v1/runs', () => {
  const server = serverSuite();
  beforeAll(async () => {
    await server.node('n1', [{ role: 'x' }]).advertise();
    // r1 is cancelled, r2 fails, r3 runs, r4 to r7 wait; r2 to r5 belong to one work, odd ones to paula.
    for (let n = 1; n <= 7; n++) {
      await submit(`r${n}`, n);
      if (n === 1) await cancel(server, 'r1');
      if (n === 2) await server.node('n1').work({ exit_code: 1 });
    }
  });
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

/** Roles that ask for much, as large as a contract may be when there are 36 of them. */
const attrs = Object.fromEntries(Array.from({ length: 31 }, (_, n) => [`a${n}`, 'x'.repeat(190)]));
const heavy = (run_id: string, roles: number): object => ({
  run_id,
  requires: Array.from({ length: roles }, (_, n) => ({ as: `r${n}`, capability: 'big', attrs })),
  steps: [{ id: 'only', uses: 'r0', run: ['true'] }],
});

interface Page {
  ids: string[];
  /** Of each item. */
  bytes: number[];
}

describe('pages of large items', () => {
  const server = serverSuite();
  let newest = 0;
  beforeAll(async () => {
    await server.send('POST', '/v1/nodes', {
      body: { node_id: 'big', capabilities: [{ capability: 'big', attrs }] },
    });
    // The first runs, the others wait; large and small ones in turn.
    for (let n = 0; n < 24; n++) await submit(n % 3 === 0 ? 4 : 36);
  });

  async function submit(roles: number): Promise<void> {
    const { status } = await server.send('POST', '/v1/runs', { body: heavy(`big-${newest++}`, roles) });
    expect([201, 202]).toContain(status);
  }

  /** Every page, one after the other, by the header and by `next`, which must agree; something is done after each. */
  async function pages(path: string, between: () => Promise<unknown> = async () => undefined): Promise<Page[]> {
    const all: Page[] = [];
    const [list] = path.split('?');
    for (let at: string | undefined = path; at !== undefined;) {
      const { status, headers, body }: Answer = await server.send('GET', at);
      expect(status).toBe(200);
      all.push({
        ids: body.items.map(({ run_id, seq }: any) => (seq === undefined ? run_id : `${run_id}/${seq}`)),
        bytes: body.items.map((item: unknown) => Buffer.byteLength(JSON.stringify(item))),
      });
      const link = /^<(\/[^>]*)>; rel="next"$/.exec(headers.get('link') ?? '')?.[1];
      expect(link && new URL(link, server.url).searchParams.get('cursor')).toBe(body.next ?? undefined);
      at = body.next === null ? undefined : `${list}?limit=200&cursor=${body.next}`;
      await between();
    }
    return all;
  }

  function expectBounded(all: Page[], wanted: string[]): void {
    expect(all.flatMap(({ ids }) => ids)).toEqual(wanted);
    expect(all.length).toBeGreaterThan(2);
    for (const { bytes } of all) {
      expect(bytes.length).toBeGreaterThan(0);
      expect(bytes.slice(0, -1).reduce((sum, one) => sum + one, 0)).toBeLessThan(PAGE_BYTES);
    }
    // None ends without need: the next item would have made each too large, or it is the last.
    for (const { bytes } of all.slice(0, -1)) {
      expect(bytes.reduce((sum, one) => sum + one, 0)).toBeGreaterThan(PAGE_BYTES / 2);
    }
  }

  it('GET /v1/runs: every run is on one page, while runs come, and a page is about 1 MiB', async () => {
    const there = Array.from({ length: newest }, (_, n) => `big-${n}`).reverse();
    expectBounded(await pages('/v1/runs?limit=200', () => submit(36)), there);
  });

  it('GET /v1/runs?state=QUEUED&principal=…: the same with filters', async () => {
    const { body } = await server.send('GET', '/v1/runs?limit=200&state=QUEUED&principal=anonymous');
    expect(body.items.length).toBeGreaterThan(1);
    expect(body.next).not.toBeNull();
    expect((await server.send('GET', '/v1/runs?state=QUEUED&principal=nobody')).body).toEqual({
      items: [],
      next: null,
    });
  });

  it('GET /v1/queue: every run is on one page, while runs come, and a page is about 1 MiB', async () => {
    const there = Array.from({ length: newest - 1 }, (_, n) => `big-${n + 1}`);
    let come = 0;
    const all = await pages('/v1/queue?limit=200', async () => {
      // What comes while the list is read stands at its end.
      if (come++ < 2) await submit(4);
    });
    expectBounded(all, [...there, `big-${newest - 2}`, `big-${newest - 1}`]);
  });

  it('an end by `limit` and an end by size leave no page empty', async () => {
    const { body } = await server.send('GET', '/v1/queue?limit=1');
    expect(body.items).toHaveLength(1);
    const last = (await pages('/v1/queue?limit=200')).at(-1)!;
    expect(last.ids.length).toBeGreaterThan(0);
  });

  it('what is read from the database for a page is bounded as well', async () => {
    const { rows, more } = await server.mediator.app.get(Database).ask(readRunPage({}, 200, undefined));
    expect(more).toBe(true);
    const read = rows.map((row) => JSON.stringify(row).length);
    expect(read.slice(0, -1).reduce((sum, one) => sum + one, 0)).toBeLessThan(2 * PAGE_BYTES);
  });

  it('GET /v1/asks: every question is on one page with all the texts it shows, and a page is about 1 MiB', async () => {
    const names = Array.from({ length: 20 }, (_, n) => `o${n}`);
    const asks = Array.from({ length: 30 }, (_, n) => ({
      id: `ask${n}`,
      needs: ['make'],
      ask: { prompt: 'p'.repeat(1000), show: names },
      out: [`answer${n}`],
      schema: { [`answer${n}`]: { type: 'object', description: 'd'.repeat(n % 4 === 0 ? 4000 : 40) } },
    }));
    const make = { id: 'make', uses: 'ask', run: ['true'], out: names };
    const node = server.node('ask', [{ role: 'ask' }]);
    await node.advertise();
    const contract = R('ask', { run_id: 'asks', steps: [make, ...asks] });
    expect((await server.send('POST', '/v1/runs', { body: contract })).status).toBe(201);
    const claim = (await node.claim()).body;
    for (const name of names) await upload(server, claim, name, 'é'.repeat(8192), { type: 'text/plain' });
    expect((await node.report(claim, { exit_code: 0, produced: names })).status).toBe(200);

    const all = await pages('/v1/asks?limit=200');
    expectBounded(
      all,
      asks.map((_, n) => `asks/${n + 2}`),
    );
    const { body } = await server.send('GET', '/v1/asks?limit=200');
    for (const { shown } of body.items) {
      expect(shown.map(({ name, text }: any) => [name, text.length])).toEqual(names.map((name) => [name, 8192]));
    }
  });
});

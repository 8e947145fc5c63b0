import { afterAll, afterEach, beforeAll, describe, expect, it } from '@jest/globals';
import { Database } from '../../../src/platform/database/database.js';
import { PAGE_BYTES } from '../../../src/platform/http/fill-page.js';
import { readRunPage } from '../../../src/runs/runs.sql.js';
import type { Answer } from '../../support/http.js';
import { R } from '../../support/contracts.js';
import { startTestMediator, type TestMediator } from '../../support/mediator.js';
import { upload } from '../../support/uploads.js';

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
  let server: TestMediator;
  let newest = 0;
  beforeAll(async () => {
    server = await startTestMediator();
    await server.send('POST', '/v1/nodes', {
      body: { node_id: 'big', capabilities: [{ capability: 'big', attrs }] },
    });
    // The first runs, the others wait; large and small ones in turn.
    for (let n = 0; n < 24; n++) await submit(n % 3 === 0 ? 4 : 36);
  });
  afterEach(async () => {
    expect(await server.violations()).toEqual([]);
  });
  afterAll(() => server.close());

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
    const { rows, more } = await readRunPage(server.mediator.app.get(Database), {}, 200, undefined);
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

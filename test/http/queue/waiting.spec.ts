import { nameOf } from '../../support/raw-statement.js';
import { beforeAll, describe, expect, it, jest } from '@jest/globals';
import { FleetView } from '../../../src/fleet/fleet-view.js';
import { LeaseTerms } from '../../../src/leases/lease-terms.js';
import { Config } from '../../../src/platform/config/config.js';
import { Database } from '../../../src/platform/database/database.js';
import type { Read } from '../../../src/platform/database/statement.js';
import { Lifecycle } from '../../../src/platform/lifecycle.js';
import { Metrics } from '../../../src/platform/metrics/metrics.js';
import { Promote } from '../../../src/queue/promote.js';
import { QueueView } from '../../../src/queue/queue-view.js';
import { QueueService } from '../../../src/queue/queue.service.js';
import { Sweep } from '../../../src/queue/sweep.js';
import { needs, R, step } from '../../support/contracts.js';
import { eventually } from '../../support/eventually.js';
import type { Answer } from '../../support/http.js';
import { cancel, countWakes, promotion, show, states, submit, submitAll } from '../../support/queue.js';
import { serverSuite } from '../../support/server-suite.js';

const NOBODY = { free: 0, busy: 0, draining: 0, held: 0, silent: 0, holders: [] };

describe('why a run waits for its nodes, and the queue', () => {
  const server = serverSuite({ env: { MEDIATOR_MAX_LEASES_PER_RUN: '2' } });
  const advertise = (nodeId: string, roles: string[], more = {}): Promise<unknown> =>
    server.node(nodeId, [Object.fromEntries(roles.map((role) => [role, 'yes']))]).advertise(more);
  const wants = (run_id: string, ...roles: string[]): Record<string, unknown> => ({
    run_id,
    requires: roles.map((role) => needs(role, { attrs: { [role]: 'yes' } })),
    steps: roles.map((role) => step(`on-${role}`, role)),
  });
  const waiting = async (runId: string): Promise<any> => (await show(server, runId)).waiting;
  const queue = async (query = ''): Promise<any> => server.send('GET', `/v1/queue${query}`);

  it("BUSY: with each role's counts and who holds its nodes", async () => {
    await advertise('b1', ['b']);
    await advertise('b2', ['b', 'c']);
    await advertise('b3', ['b', 'c', 'd'], { drain: 'graceful' });
    await advertise('b4', ['e']);
    const many = {
      ...wants('wait', 'b', 'c', 'e'),
      requires: [
        needs('b', { attrs: { b: 'yes' }, count: 2 }),
        needs('c', { attrs: { c: 'yes' } }),
        needs('e', { attrs: { e: 'yes' } }),
      ],
    };
    expect(await submitAll(server, wants('hold1', 'b'), wants('hold2', 'b'), many)).toEqual([201, 201, 202]);

    const { since, position, ahead, reason, detail, roles } = await waiting('wait');

    expect({ since, position, ahead, reason }).toEqual({
      since: (await show(server, 'wait')).created_at,
      position: 1,
      ahead: 0,
      reason: 'BUSY',
    });
    const leases = (await server.send('GET', '/v1/nodes')).body.items;
    const holder = (nodeId: string): object => ({
      node_id: nodeId,
      ...leases.find((node: any) => node.node_id === nodeId).lease,
    });
    expect(roles).toEqual([
      { as: 'b', count: 2, live: 3, ...NOBODY, busy: 2, draining: 1, holders: [holder('b1'), holder('b2')] },
      { as: 'c', count: 1, live: 2, ...NOBODY, busy: 1, draining: 1, holders: [holder('b2')] },
      { as: 'e', count: 1, live: 1, ...NOBODY, free: 1 },
    ]);
    for (const runId of ['hold1', 'hold2']) expect(detail).toContain(runId);
  });

  it('DRAINING: once it would go if draining nodes counted as free; a node that is busy too counts as busy', async () => {
    await advertise('d1', ['d1']);
    await submitAll(server, wants('d-hold', 'd1'), wants('d-wait', 'd1'));
    expect((await waiting('d-wait')).reason).toBe('BUSY');
    await advertise('d1', ['d1'], { drain: 'graceful' });
    expect(await waiting('d-wait')).toMatchObject({ reason: 'BUSY', roles: [{ live: 1, busy: 1, draining: 0 }] });

    await cancel(server, 'd-hold');

    const { reason, detail, roles } = await waiting('d-wait');
    expect([reason, roles]).toEqual(['DRAINING', [{ as: 'd1', count: 1, live: 1, ...NOBODY, draining: 1 }]]);
    expect(detail).toContain('d1');
  });

  it('OFFLINE: once the adverts of its nodes have expired, whoever holds them', async () => {
    await advertise('o1', ['o']);
    await submitAll(server, wants('o-hold', 'o'), wants('o-wait', 'o'));
    expect((await waiting('o-wait')).reason).toBe('BUSY');

    await server.database.sql("UPDATE nodes SET expires_at = clock_timestamp() WHERE node_id = 'o1'");

    const { reason, detail, roles } = await waiting('o-wait');
    expect([reason, roles]).toEqual(['OFFLINE', [{ as: 'o', count: 1, live: 0, ...NOBODY, silent: 1 }]]);
    expect(detail).toContain('o');
    await advertise('o1', ['o']);
    expect((await waiting('o-wait')).reason).toBe('BUSY');
  });

  it('TOO_WIDE: it matches, but only on more nodes than a run may lease', async () => {
    await advertise('t1', ['t1', 't2', 't3']);
    await submitAll(server, wants('t-hold', 't1'));
    await advertise('t2', ['t1']);
    await advertise('t3', ['t2']);
    expect(await submitAll(server, wants('t-wait', 't1', 't2', 't3'))).toEqual([202]);
    expect((await waiting('t-wait')).reason).toBe('BUSY');

    await advertise('t4', ['t3']);

    const { reason, detail, roles } = await waiting('t-wait');
    expect([reason, roles.map((role: any) => [role.as, role.free, role.busy])]).toEqual([
      'TOO_WIDE',
      [
        ['t1', 1, 1],
        ['t2', 1, 1],
        ['t3', 1, 1],
      ],
    ]);
    expect(detail).toContain('at most 2');
  });

  it('GET /v1/queue: in arrival order, with the place and how many of the older share a node, page by page', async () => {
    for (const item of (await queue()).body.items) await cancel(server, item.run_id);
    expect((await queue()).body).toMatchObject({ depth: 0, items: [], next: null });
    await advertise('q1', ['q1']);
    await advertise('q2', ['q2']);
    await submitAll(server, wants('q-hold1', 'q1'), wants('q-hold2', 'q2'));
    const work = { system: 'gerrit', change_id: '7' };
    const statuses = await submitAll(
      server,
      wants('q-a', 'q1'),
      wants('q-b', 'q2'),
      { ...wants('q-c', 'q1'), work },
      wants('q-d', 'q1', 'q2'),
      wants('q-e', 'q2'),
    );
    expect(statuses).toEqual([202, 202, 202, 202, 202]);

    const { body } = await queue();
    expect([body.depth, body.next]).toEqual([5, null]);
    expect(Date.parse(body.observed_at)).toBeGreaterThanOrEqual(Date.parse(body.items[4].created_at));
    expect(body.items.map(({ run_id, waiting }: any) => [run_id, waiting.position, waiting.ahead])).toEqual([
      ['q-a', 1, 0],
      ['q-b', 2, 0],
      ['q-c', 3, 1],
      ['q-d', 4, 3],
      ['q-e', 5, 2],
    ]);
    const alone = await show(server, 'q-c');
    expect(body.items[2]).toEqual({
      run_id: 'q-c',
      work_id: 'gerrit:7',
      principal: 'anonymous',
      created_at: alone.created_at,
      requires: alone.requires,
      waiting: alone.waiting,
    });

    const paged: any[] = [];
    let path: string | undefined = '/v1/queue?limit=2';
    while (path !== undefined) {
      const page: Answer = await server.send('GET', path);
      paged.push(...page.body.items);
      expect(page.body.depth).toBe(paged.length <= 2 ? 5 : 6);
      path = /^<(\/v1\/queue\?limit=2&cursor=[^>]+)>; rel="next"$/.exec(page.headers.get('link') ?? '')?.[1];
      expect(path === undefined).toBe(page.body.next === null);
      if (paged.length === 2) await server.send('POST', '/v1/runs', { body: wants('q-f', 'q1') });
    }
    expect(paged.slice(0, 5)).toEqual(body.items);
    expect(paged.slice(5)).toMatchObject([{ run_id: 'q-f', waiting: { position: 6, ahead: 3 } }]);
  });

  it('the place moves up when an older run goes, and a run that has gone is no longer shown there', async () => {
    await cancel(server, 'q-a');
    await cancel(server, 'q-hold1');
    expect((await show(server, 'q-c')).state).toBe('RUNNING');
    const { items } = (await queue()).body;
    expect(items.map(({ run_id, waiting }: any) => [run_id, waiting.position, waiting.ahead])).toEqual([
      ['q-b', 1, 0],
      ['q-d', 2, 1],
      ['q-e', 3, 2],
      ['q-f', 4, 1],
    ]);
  });

  it.each(['limit=0', 'limit=201', 'cursor=nonsense'])('GET /v1/queue?%s is a 400', async (query) => {
    expect((await queue(`?${query}`)).body).toMatchObject({ status: 400, code: 'invalid_request' });
  });

  it('a run that waits for what only its own wish makes scarce is told so', async () => {
    await server.node('s1', [{ role: 's' }]).advertise();
    await server.node('s2', [{ role: 's' }]).advertise();
    const both = { ...R('s', { run_id: 's-both' }), requires: [needs('s', { count: 2 })] };
    expect(await submitAll(server, R('s', { run_id: 's-one' }), both)).toEqual([201, 202]);
    expect(await waiting('s-both')).toMatchObject({ reason: 'BUSY', roles: [{ count: 2, live: 2, free: 1, busy: 1 }] });
  });
});

describe('GET /v1/queue while it changes', () => {
  const server = serverSuite();
  beforeAll(async () => {
    await server.node('N1', [{ role: 'page' }]).advertise();
    const runs = ['holder', 'a', 'b', 'c', 'd'].map((run_id) => R('page', { run_id }));
    expect(await submitAll(server, ...runs)).toEqual([201, 202, 202, 202, 202]);
  });
  const page = async (query = ''): Promise<any> => (await server.send('GET', `/v1/queue${query}`)).body;
  const placesOf = ({ items }: any): unknown[] =>
    items.map(({ run_id, waiting }: any) => [run_id, waiting.position, waiting.ahead]);

  /** Does something as soon as it is known which runs the page has, before their rows are read. */
  function beforeRows(act: () => Promise<unknown>): void {
    const database = server.mediator.app.get(Database);
    const ask = database.ask.bind(database);
    jest.spyOn(database, 'ask').mockImplementation(async (statement: Read<unknown>) => {
      if (nameOf(statement) === 'queue.read-page') {
        jest.restoreAllMocks();
        await act();
      }
      return ask(statement);
    });
  }

  it('is the queue of one moment: places are consecutive and agree with the depth, whoever leaves meanwhile', async () => {
    beforeRows(() => cancel(server, 'b'));
    const meanwhile = await page('?limit=3');
    expect(placesOf(meanwhile)).toEqual([
      ['a', 1, 0],
      ['b', 2, 1],
      ['c', 3, 2],
    ]);
    expect(meanwhile.depth).toBe(4);

    const next = await page(`?cursor=${meanwhile.next}`);
    expect(placesOf(next)).toEqual([['d', 3, 2]]);
    expect(placesOf(await page())).toEqual([
      ['a', 1, 0],
      ['c', 2, 1],
      ['d', 3, 2],
    ]);
  });

  it('goes on behind the last run of a page, also where that one has gone', async () => {
    const first = await page('?limit=1');
    await cancel(server, 'a');
    expect(placesOf(await page(`?limit=2&cursor=${first.next}`))).toEqual([
      ['c', 1, 0],
      ['d', 2, 1],
    ]);
  });
});

/** What is read at the first look only. */
const WHOLE = ['queue.read-moment', 'queue.read-runs', 'fleet.read-whole'];

describe('what a sweep reads', () => {
  const server = serverSuite();
  let database: Database;
  beforeAll(async () => {
    database = server.mediator.app.get(Database);
  });

  /** Counts the statements outside transactions by the name each begins with. */
  async function statementsOf(act: () => Promise<unknown>): Promise<Record<string, number>> {
    const spy = jest.spyOn(database, 'ask');
    await act();
    const counts: Record<string, number> = {};
    for (const [statement] of spy.mock.calls) {
      const name = nameOf(statement);
      counts[name] = (counts[name] ?? 0) + 1;
    }
    spy.mockRestore();
    return counts;
  }

  /** The database is asked for it once in 5 s. */
  const expectDepth = (depth: number): Promise<boolean> =>
    eventually(`${depth} wait`, async () => (await server.figure('mediator_queue_depth')) === depth);

  it('B21 with one queued run or a thousand, a sweep reads the queue, the adverts and who is unavailable once', async () => {
    await server.node('B21-N1', [{ role: 'b21' }]).advertise();
    expect(await submitAll(server, R('b21', { run_id: 'b21-a' }), R('b21', { run_id: 'b21-b' }))).toEqual([201, 202]);
    const withOne = await statementsOf(() => cancel(server, 'b21-a'));
    expect(await promotion(server, 'b21-b')).toEqual({ state: 'RUNNING', whys: ['cancel'], holds: ['B21-N1'] });

    expect((await submit(server, R('b21', { run_id: 'b21-c' }))).status).toBe(202);
    await server.database.sql(
      `WITH copies AS (
         INSERT INTO runs (run_id, state, principal, contract, contract_hash, requires, spread, signature, queued_at, wait_reason)
         SELECT 'b21-copy-' || n, state, principal, contract, contract_hash, requires, spread, signature, clock_timestamp(), wait_reason
           FROM runs, generate_series(1, 999) n WHERE run_id = 'b21-c' RETURNING run_id)
       INSERT INTO records (run_id) SELECT run_id FROM copies`,
    );
    await expectDepth(1000);
    const withThousand = await statementsOf(() => cancel(server, 'b21-b'));

    expect(await promotion(server, 'b21-c')).toEqual({ state: 'RUNNING', whys: ['cancel'], holds: ['B21-N1'] });
    await expectDepth(999);
    expect(withOne).toMatchObject({ 'queue.read-changes': 1, 'fleet.read-changes': 1 });
    for (const name of WHOLE) expect(withOne).not.toHaveProperty([name]);
    expect(withThousand).toEqual(withOne);
    await server.database.sql(
      "DELETE FROM records WHERE run_id LIKE 'b21-copy-%'; DELETE FROM runs WHERE run_id LIKE 'b21-copy-%'",
    );
  });

  it('where nothing is queued, a sweep is one cheap read', async () => {
    await server.node('NONE-N1', [{ role: 'none' }]).advertise();
    expect((await submit(server, R('none', { run_id: 'none-a' }))).status).toBe(201);
    const counted = await countWakes(server);
    const statements = await statementsOf(() => cancel(server, 'none-a'));
    expect(statements).toMatchObject({ 'queue.read-changes': 1 });
    for (const name of ['fleet.read-changes', ...WHOLE]) expect(statements).not.toHaveProperty([name]);
    expect(await counted()).toEqual({ wakes: { cancel: 1 }, sweeps: { clean: 1 } });
  });

  it.each([0, -1, NaN, undefined])(
    'B11 leases with a time to live of %s: the sweep throws inside, nothing is promoted',
    async (ttl) => {
      const role = `b11-${ttl}`;
      await server.node(`${role}-N1`, [{ role }]).advertise();
      expect(await submitAll(server, R(role, { run_id: `${role}-a` }), R(role, { run_id: `${role}-b` }))).toEqual([
        201, 202,
      ]);
      // A free node beside the queue that no event has told of.
      await server.database.sql(
        "INSERT INTO nodes (node_id, label, capabilities, expires_at) VALUES ($1, $1, $2, clock_timestamp() + interval '1 h')",
        [`${role}-N2`, JSON.stringify([{ capability: 'board', attrs: { role } }])],
      );
      const { app } = server.mediator;
      const values = { ...app.get(Config), leaseTtlSeconds: ttl as number };
      const config = new Config(values);
      const metrics = new Metrics();
      const promote = new Promote(database, new LeaseTerms(config), metrics);
      const sweep = new Sweep(app.get(FleetView), app.get(QueueView), promote, config, app.get(Lifecycle));
      const queue = new QueueService(sweep, metrics);

      await expect(sweep.run(['cancel'])).rejects.toThrow(/time to live/);
      await expect(queue.wake('cancel')).resolves.toBeUndefined();

      expect(queue.owed).toBe(true);
      expect(await metrics.registry.getSingleMetricAsString('mediator_sweeps_total')).toContain('{result="failed"} 1');
      expect(await promotion(server, `${role}-b`)).toEqual({ state: 'QUEUED', whys: null, holds: [] });
      // The same queue with leases that end.
      await new QueueService(app.get(Sweep), new Metrics()).wake('cancel');
      expect(await states(server, `${role}-b`)).toEqual(['RUNNING']);
    },
  );
});

import { afterAll, afterEach, beforeAll, describe, expect, it } from '@jest/globals';
import { needs, R, step } from '../../support/contracts.js';
import type { Answer } from '../../support/http.js';
import { startTestMediator, type TestMediator } from '../../support/mediator.js';
import { cancel, show, submitAll } from '../../support/queue.js';

describe('why a run waits for its nodes, and the queue', () => {
  let server: TestMediator;
  beforeAll(async () => {
    server = await startTestMediator({ env: { MEDIATOR_MAX_LEASES_PER_RUN: '2' } });
  });
  afterEach(async () => {
    expect(await server.violations()).toEqual([]);
  });
  afterAll(() => server.close());

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
      { as: 'b', count: 2, live: 3, free: 0, busy: 2, draining: 1, holders: [holder('b1'), holder('b2')] },
      { as: 'c', count: 1, live: 2, free: 0, busy: 1, draining: 1, holders: [holder('b2')] },
      { as: 'e', count: 1, live: 1, free: 1, busy: 0, draining: 0, holders: [] },
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
    expect([reason, roles]).toEqual([
      'DRAINING',
      [{ as: 'd1', count: 1, live: 1, free: 0, busy: 0, draining: 1, holders: [] }],
    ]);
    expect(detail).toContain('d1');
  });

  it('OFFLINE: once the adverts of its nodes have expired, whoever holds them', async () => {
    await advertise('o1', ['o']);
    await submitAll(server, wants('o-hold', 'o'), wants('o-wait', 'o'));
    expect((await waiting('o-wait')).reason).toBe('BUSY');

    await server.database.sql("UPDATE nodes SET expires_at = clock_timestamp() WHERE node_id = 'o1'");

    const { reason, detail, roles } = await waiting('o-wait');
    expect([reason, roles]).toEqual([
      'OFFLINE',
      [{ as: 'o', count: 1, live: 0, free: 0, busy: 0, draining: 0, holders: [] }],
    ]);
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

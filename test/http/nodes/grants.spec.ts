import { describe, expect, it } from '@jest/globals';
import { needs, R, step } from '../../support/contracts.js';
import { expectProblem } from '../../support/problem.js';
import { cancel, submit } from '../../support/queue.js';
import { serverSuite } from '../../support/server-suite.js';

describe('GET /v1/grants', () => {
  const server = serverSuite();
  const list = (query = ''): Promise<any> => server.send('GET', `/v1/grants${query}`);
  const runsOf = async (query: string): Promise<string[]> =>
    (await list(query)).body.items.map(({ run_id }: any) => run_id);
  const at = (minute: number): string => `2026-03-02T09:${String(minute).padStart(2, '0')}:00.000Z`;

  /** A run held the node from one minute past nine to another; null: it holds it still. */
  async function held(nodeId: string, runId: string, granted: number, released: number | null): Promise<void> {
    expect((await submit(server, R(nodeId, { run_id: runId }))).status).toBe(201);
    if (released !== null) await cancel(server, runId);
    await server.database.sql('ALTER TABLE grants DISABLE TRIGGER USER');
    await server.database.sql('UPDATE grants SET granted_at = $2, released_at = $3 WHERE run_id = $1', [
      runId,
      at(granted),
      released === null ? null : at(released),
    ]);
    await server.database.sql('ALTER TABLE grants ENABLE TRIGGER USER');
  }

  it('G11 tells who held what when, the newest first, also of runs that are over and nodes that were forgotten', async () => {
    await server.node('a', [{ role: 'a' }]).advertise({ label: 'bench one' });
    await server.node('b', [{ role: 'b' }]).advertise();
    const both = { requires: [needs('a'), needs('b')], steps: [step('only', 'a')], run_id: 'both' };
    expect((await submit(server, both)).status).toBe(201);
    await server.node('a').work();
    expect((await submit(server, R('a', { run_id: 'now' }))).status).toBe(201);
    await server.database.sql("UPDATE nodes SET expires_at = clock_timestamp() WHERE node_id = 'b'");
    expect((await server.send('DELETE', '/v1/nodes/b')).status).toBe(204);

    const { status, body } = await list();

    expect([status, body.next]).toEqual([200, null]);
    const time = expect.stringMatching(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/);
    const grant = { principal: 'anonymous', granted_at: time };
    const over = { ...grant, run_id: 'both', released_at: time, why: 'succeeded' };
    expect(body.items[0]).toEqual({
      ...grant,
      node_id: 'a',
      label: 'bench one',
      run_id: 'now',
      roles: ['a'],
      released_at: null,
      why: null,
    });
    expect(body.items.slice(1)).toEqual(
      expect.arrayContaining([
        { ...over, node_id: 'a', label: 'bench one', roles: ['a'] },
        { ...over, node_id: 'b', label: 'b', roles: ['b'] },
      ]),
    );
    expect(await runsOf('?run_id=both')).toEqual(['both', 'both']);
    expect(await runsOf('?node_id=b')).toEqual(['both']);
    expect(await runsOf('?node_id=nobody')).toEqual([]);
    await cancel(server, 'now');
  });

  it('G11 of a time those that overlap it, also one that began long before it', async () => {
    await server.node('c', [{ role: 'c' }]).advertise();
    await server.node('d', [{ role: 'd' }]).advertise();
    await held('c', 'c-1', 10, 20);
    await held('c', 'c-2', 20, 30);
    await held('c', 'c-3', 40, null);
    await held('d', 'd-1', 5, 50);
    const within = (from?: number, to?: number, more = ''): Promise<string[]> => {
      const query = [from === undefined ? '' : `&from=${at(from)}`, to === undefined ? '' : `&to=${at(to)}`].join('');
      return runsOf(`?limit=200${query}${more}`);
    };
    expect(await within(12, 15)).toEqual(['c-1', 'd-1']);
    expect(await within(20, 20)).toEqual(['c-2', 'd-1']);
    expect(await within(15, 25)).toEqual(['c-2', 'c-1', 'd-1']);
    expect(await within(31, 39)).toEqual(['d-1']);
    expect(await within(31, 39, '&node_id=c')).toEqual([]);
    expect(await within(25, 45, '&node_id=c')).toEqual(['c-3', 'c-2']);
    expect(await within(undefined, 9)).toEqual(['d-1']);
    expect(await within(51, 55)).toEqual(['c-3']);
    expect(await within(30, 55, '&run_id=c-3')).toEqual(['c-3']);
    expect(await within(1, 4)).toEqual([]);
    await cancel(server, 'c-3');
  });

  it('G11 pages without a hole while it grows', async () => {
    await server.node('e', [{ role: 'e' }]).advertise();
    const ids = Array.from({ length: 7 }, (_, index) => `e-${index}`);
    for (const run_id of ids.slice(0, 5)) await submit(server, R('e', { run_id })).then(() => cancel(server, run_id));
    const read: string[] = [];
    let path = '/v1/grants?node_id=e&limit=2';
    for (let page = 0; path !== ''; page++) {
      const { body, headers } = await server.send<any>('GET', path);
      read.push(...body.items.map(({ run_id }: any) => run_id));
      const more = ids[5 + page];
      if (more !== undefined) await submit(server, R('e', { run_id: more })).then(() => cancel(server, more));
      path = /^<(.*)>; rel="next"$/.exec(headers.get('link') ?? '')?.[1] ?? '';
      expect(path === '').toBe(body.next === null);
    }
    expect(read).toEqual(['e-4', 'e-3', 'e-2', 'e-1', 'e-0']);
  });

  it('pages through what overlaps a time in one order', async () => {
    const whole = await runsOf(`?from=${at(12)}&to=${at(45)}&limit=200`);
    const read: string[] = [];
    for (let cursor: string | null = ''; cursor !== null;) {
      const more: string = cursor === '' ? '' : `&cursor=${cursor}`;
      const { body } = await list(`?from=${at(12)}&to=${at(45)}&limit=1${more}`);
      read.push(...body.items.map(({ run_id }: any) => run_id));
      cursor = body.next;
    }
    expect(read).toEqual(whole);
    expect(whole).toEqual(['c-3', 'c-2', 'c-1', 'd-1']);
  });

  it.each([
    ['from=yesterday', '/from'],
    ['from=2026-02-30T00:00:00Z', '/from'],
    ['from=2026-03-02', '/from'],
    ['to=1772442904', '/to'],
    ['to=2026-03-02T25:00:00Z', '/to'],
    ['from=2026-03-02T09:15:04%2B99:99', '/from'],
    ['from=0001-01-01T00:00:00%2B12:00', '/from'],
    ['to=9999-12-31T23:59:59-12:00', '/to'],
    ['from=2026-03-02T09:00:01Z&to=2026-03-02T09:00:00Z', '/to'],
    ['limit=0', '/limit'],
    ['node_id=a&node_id=b', '/node_id'],
    ['since=now', '/since'],
  ])('%s: 400 that says where', async (query, pointer) => {
    const answer = await list(`?${query}`);
    expectProblem(answer, 400, 'invalid_request', '/v1/grants');
    expect(answer.body.errors).toMatchObject([{ pointer }]);
  });

  it.each([
    '2026-03-02T09:15:04Z',
    '2026-03-02t09:15:04.123456z',
    '2026-03-02T10:15:04%2B01:00',
    '2026-03-02T10:15:04%2B23:59',
  ])('from=%s is a time', async (time) => {
    expect((await list(`?from=${time}`)).status).toBe(200);
  });
});

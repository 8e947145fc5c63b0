import { beforeAll, describe, expect, it } from '@jest/globals';
import { R } from '../../support/contracts.js';
import { expectProblem } from '../../support/problem.js';
import { cancel, submit } from '../../support/queue.js';
import { serverSuite, type SuiteServer } from '../../support/server-suite.js';

const at = (minute: number): string => `2026-03-02T09:${String(minute).padStart(2, '0')}:00.000Z`;

/** Changes what a record is sealed against. */
async function rewrite(server: SuiteServer, table: string, text: string, params: unknown[]): Promise<void> {
  await server.database.sql(`ALTER TABLE ${table} DISABLE TRIGGER closed_record`);
  await server.database.sql(text, params);
  await server.database.sql(`ALTER TABLE ${table} ENABLE TRIGGER closed_record`);
}

/** What a list shows: the ids of a page, or of all pages, one after the other. */
function lists(server: SuiteServer) {
  const list = (query: string): Promise<any> => server.send('GET', `/v1/runs?${query}`);
  const ids = async (query: string): Promise<string[]> =>
    (await list(query)).body.items.map(({ run_id }: any) => run_id);
  async function paged(query: string, between: () => Promise<unknown> = async () => undefined): Promise<string[]> {
    const read: string[] = [];
    for (let path = `/v1/runs?${query}`; path !== '';) {
      const { body, headers } = await server.send<any>('GET', path);
      read.push(...body.items.map(({ run_id }: any) => run_id));
      path = /^<(.*)>; rel="next"$/.exec(headers.get('link') ?? '')?.[1] ?? '';
      expect(path === '').toBe(body.next === null);
      await between();
    }
    return read;
  }
  return { list, ids, paged };
}

interface Span {
  id: string;
  from: number;
  /** Null: it goes on. */
  to: number | null;
}

/** Newest first; of the same moment, what came last. */
function existing(spans: readonly Span[], from: number | undefined, to: number | undefined): string[] {
  const there = spans.filter(
    (one) => (to === undefined || one.from <= to) && (one.to === null || from === undefined || one.to > from),
  );
  return [...there].reverse().sort((a, b) => b.from - a.from).map(({ id }) => id); // prettier-ignore
}

const MINUTES = [undefined, ...Array.from({ length: 9 }, (_, minute) => minute)];
const TIMES = MINUTES.flatMap((from) => MINUTES.map((to) => ({ from, to }))).filter(
  ({ from, to }) => from === undefined || to === undefined || from <= to,
);
function queryOf({ from, to }: { from?: number | undefined; to?: number | undefined }): string {
  return [...(from === undefined ? [] : [`from=${at(from)}`]), ...(to === undefined ? [] : [`to=${at(to)}`])].join('&');
}

describe('GET /v1/runs?from=&to=', () => {
  const server = serverSuite();
  const { list, ids, paged } = lists(server);

  /** In the order of their submission. The first that goes on holds the node, the others wait. */
  const RUNS: Span[] = [
    { id: 'long-over', from: 0, to: 1 },
    { id: 'short', from: 3, to: 4 },
    { id: 'at-once', from: 4, to: 4 },
    { id: 'long', from: 1, to: 7 },
    { id: 'same-minute', from: 3, to: 6 },
    { id: 'clock-set-back', from: 6, to: 2 },
    { id: 'running', from: 2, to: null },
    { id: 'waits', from: 5, to: null },
    { id: 'waits-from-then', from: 2, to: null },
  ];

  beforeAll(async () => {
    await server.node('n', [{ role: 'x' }]).advertise();
    for (const { id, from, to } of RUNS) {
      expect([201, 202]).toContain((await submit(server, R('x', { run_id: id, work: workOf(id) }))).status);
      if (to !== null) await cancel(server, id);
      await rewrite(
        server,
        'runs',
        'UPDATE runs SET created_at = $2, ended_at = CASE WHEN ended_at IS NOT NULL THEN $3::timestamptz END WHERE run_id = $1',
        [id, at(from), to === null ? null : at(to)],
      );
    }
  });
  const workOf = (id: string): object => ({ system: 'gerrit', change_id: id.startsWith('w') ? '1' : '2', patchset: 1 });

  it('lists what existed in that time, the newest first', async () => {
    expect(await ids(queryOf({ from: 4, to: 5 }))).toEqual([
      'waits',
      'same-minute',
      'waits-from-then',
      'running',
      'long',
    ]);
    expect(await ids(queryOf({ from: 1, to: 1 }))).toEqual(['long']);
    expect(await ids(queryOf({ to: 0 }))).toEqual(['long-over']);
    expect(await ids('from=2026-03-01T00:00:00Z&to=2026-03-01T23:59:59Z')).toEqual([]);
  });

  it('whatever the time, whole and one by one', async () => {
    for (const time of TIMES) {
      const wanted = existing(RUNS, time.from, time.to);
      expect({ time, ids: await ids(queryOf(time)) }).toEqual({ time, ids: wanted });
      expect({ time, ids: await paged(`limit=2&${queryOf(time)}`) }).toEqual({ time, ids: wanted });
    }
  });

  it.each([
    ['state=QUEUED', ['waits', 'waits-from-then']],
    ['state=RUNNING', ['running']],
    ['state=CANCELLED', ['same-minute', 'long']],
    ['state=SUCCEEDED', []],
    ['work_id=gerrit:1', ['waits', 'waits-from-then']],
    ['work_id=gerrit:2&state=CANCELLED', ['same-minute', 'long']],
    ['principal=anonymous&state=RUNNING', ['running']],
    ['principal=nobody', []],
  ])('combines with %s', async (query, wanted) => {
    expect(await ids(`${queryOf({ from: 4, to: 5 })}&${query}`)).toEqual(wanted);
    expect(await paged(`limit=1&${queryOf({ from: 4, to: 5 })}&${query}`)).toEqual(wanted);
  });

  it('a run ends whatever the clock says of when it began', async () => {
    await submit(server, R('x', { run_id: 'of-tomorrow' }));
    await server.database.sql(
      "UPDATE runs SET created_at = clock_timestamp() + interval '1 day' WHERE run_id = 'of-tomorrow'",
    );
    expect((await cancel(server, 'of-tomorrow')).body).toMatchObject({ state: 'CANCELLED' });
  });

  it.each([
    ['from=yesterday', '/from'],
    ['to=2026-02-30T00:00:00Z', '/to'],
    ['from=2026-03-02T09:00:01Z&to=2026-03-02T09:00:00Z', '/to'],
    ['node_id=n&from=2026-03-02T09:00:01Z&to=2026-03-02T09:00:00Z', '/to'],
    ['node_id=a&node_id=b', '/node_id'],
    ['node=a', '/node'],
  ])('%s: 400 that says where', async (query, pointer) => {
    const answer = await list(query);
    expectProblem(answer, 400, 'invalid_request', '/v1/runs');
    expect(answer.body.errors).toMatchObject([{ pointer }]);
  });
});

describe('GET /v1/runs?node_id=', () => {
  const server = serverSuite();
  const { list, ids, paged } = lists(server);

  /** In the order in which the node was granted; the runs came in another order. */
  const GRANTS: Span[] = [
    { id: 'first', from: 0, to: 2 },
    { id: 'twice', from: 2, to: 3 },
    { id: 'moment', from: 3, to: 3 },
    { id: 'between', from: 4, to: 5 },
    { id: 'twice', from: 5, to: 7 },
    { id: 'holds-it', from: 7, to: null },
  ];

  beforeAll(async () => {
    for (const nodeId of ['a', 'b']) await server.node(nodeId, [{ role: nodeId }]).advertise();
    for (const id of ['between', 'moment', 'twice', 'first']) {
      expect((await submit(server, R('a', { run_id: id }))).status).toBe(201);
      await cancel(server, id);
    }
    expect((await submit(server, R('b', { run_id: 'elsewhere' }))).status).toBe(201);
    expect((await submit(server, R('a', { run_id: 'holds-it' }))).status).toBe(201);
    await rewrite(server, 'grants', "DELETE FROM grants WHERE node_id = 'a' AND released_at IS NOT NULL", []);
    for (const { id, from, to } of GRANTS) {
      const grant = `
        INSERT INTO grants (node_id, run_id, roles, granted_at, released_at, why) VALUES ('a', $1, '{a}', $2, $3, 'cancelled')`;
      const open = 'UPDATE grants SET granted_at = $2 WHERE run_id = $1 AND $3::text IS NULL';
      await rewrite(server, 'grants', to === null ? open : grant, [id, at(from), to === null ? null : at(to)]);
    }
  });

  /** The last of each run, of those that overlap the time. */
  function holding(from: number | undefined, to: number | undefined): string[] {
    return [...new Set(existing(GRANTS, from, to))];
  }

  it('G11: "runs?node_id= finds what ran there", each run once, by when it was granted the node last', async () => {
    const { status, body } = await list('node_id=a');
    expect([status, body.next]).toEqual([200, null]);
    expect(body.items.map(({ run_id }: any) => run_id)).toEqual(['holds-it', 'twice', 'between', 'moment', 'first']);
    expect(body.items[0]).toMatchObject({ state: 'RUNNING', assigned: [{ nodes: [{ node_id: 'a' }] }] });
    expect(body.items[1]).toMatchObject({ state: 'CANCELLED', verdict: { reason: 'cancelled' } });
    expect(await ids('node_id=b')).toEqual(['elsewhere']);
    expect((await list('node_id=nobody')).body).toEqual({ items: [], next: null });
  });

  it('G11 of a time those that held it then, whole and one by one', async () => {
    expect(await ids(`node_id=a&${queryOf({ from: 2, to: 4 })}`)).toEqual(['between', 'moment', 'twice']);
    expect(await ids(`node_id=a&${queryOf({ from: 6, to: 6 })}`)).toEqual(['twice']);
    for (const time of TIMES) {
      const wanted = holding(time.from, time.to);
      const query = `node_id=a&${queryOf(time)}`;
      expect({ time, ids: await ids(query) }).toEqual({ time, ids: wanted });
      expect({ time, ids: await paged(`limit=1&${query}`) }).toEqual({ time, ids: wanted });
    }
  });

  it.each([
    ['state=RUNNING', ['holds-it']],
    ['state=QUEUED', []],
    ['state=CANCELLED&principal=anonymous', ['twice', 'between', 'moment', 'first']],
    ['principal=nobody', []],
    ['work_id=gerrit:1', []],
  ])('combines with %s', async (query, wanted) => {
    expect(await paged(`limit=2&node_id=a&${query}`)).toEqual(wanted);
  });

  it('pages without a hole while others are granted the node', async () => {
    await cancel(server, 'holds-it');
    let come = 0;
    const read = await paged('limit=2&node_id=a', async () => {
      const run_id = `later-${come++}`;
      await submit(server, R('a', { run_id }));
      await cancel(server, run_id);
    });
    expect(read).toEqual(['holds-it', 'twice', 'between', 'moment', 'first']);
    expect((await ids('node_id=a')).slice(0, 4)).toEqual(['later-2', 'later-1', 'later-0', 'holds-it']);
  });
});

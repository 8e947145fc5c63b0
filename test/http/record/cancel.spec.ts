import { afterAll, afterEach, beforeAll, describe, expect, it } from '@jest/globals';
import { needs, R, step } from '../../support/contracts.js';
import type { Answer } from '../../support/http.js';
import { startTestMediator, type TestMediator } from '../../support/mediator.js';
import { everything } from '../../support/stored.js';

describe('cancel', () => {
  let server: TestMediator;
  beforeAll(async () => {
    server = await startTestMediator();
  });
  afterEach(async () => {
    expect(await server.violations()).toEqual([]);
  });
  afterAll(() => server.close());

  const submit = async (body: Record<string, unknown>): Promise<number> =>
    (await server.send('POST', '/v1/runs', { body })).status;
  const get = async (path: string): Promise<any> => (await server.send('GET', `/v1/${path}`)).body;
  const cancel = (runId: string, body?: unknown): Promise<Answer> =>
    server.send('POST', `/v1/runs/${runId}/cancel`, { body, headers: { 'mediator-principal': 'paula' } });

  it('C1 a queued run is cancelled: nothing else is touched, its record is sealed, and again is the same', async () => {
    await server.node('n1', [{ role: 'c1' }]).advertise();
    expect([await submit(R('c1', { run_id: 'c1-a' })), await submit(R('c1', { run_id: 'c1-b' }))]).toEqual([201, 202]);
    const before = { run: await get('runs/c1-a'), nodes: (await get('nodes')).items };

    const cancelled = await cancel('c1-b', { reason: 'not needed' });

    expect(cancelled.status).toBe(200);
    expect(cancelled.body).toMatchObject({
      state: 'CANCELLED',
      assigned: [],
      started_at: null,
      verdict: { reason: 'cancelled', detail: 'cancelled by paula: not needed', by: { kind: 'person', name: 'paula' } },
      steps: [{ id: 'only', state: 'CANCELLED', node_id: null, started_at: null }],
      record: { state: 'SEALED' },
    });
    expect(cancelled.body).not.toHaveProperty('waiting');
    const record = await server.send('GET', '/v1/runs/c1-b/record');
    expect([record.status, record.headers.get('etag')]).toEqual([200, `"${cancelled.body.record.digest}"`]);
    expect({ run: await get('runs/c1-a'), nodes: (await get('nodes')).items }).toEqual(before);
    expect(await server.database.sql("SELECT 1 FROM grants WHERE run_id = 'c1-b'")).toEqual([]);

    const stored = await everything(server.database);
    const again = await cancel('c1-b', { reason: 'another one' });
    expect([again.status, again.body]).toEqual([200, cancelled.body]);
    expect(await everything(server.database)).toEqual(stored);
  });

  it('a running run is cancelled: steps and attempts end, its nodes are free right after, and a late report is refused', async () => {
    const [n2, n3] = [server.node('n2', [{ role: 'r2' }]), server.node('n3', [{ role: 'r3' }])];
    await n2.advertise();
    await n3.advertise();
    const steps = [step('one', 'r2'), step('two', 'r3'), step('three', 'r2')];
    expect(await submit({ run_id: 'running', requires: [needs('r2'), needs('r3')], steps })).toBe(201);
    await n2.work();
    const claimed = (await n3.claim()).body;
    expect(claimed).toMatchObject({ run_id: 'running', id: 'two' });

    const { status, body } = await cancel('running');

    expect(status).toBe(200);
    expect(body).toMatchObject({
      state: 'CANCELLED',
      verdict: { reason: 'cancelled', detail: 'cancelled by paula', by: { kind: 'person', name: 'paula' } },
      record: { state: 'SEALED' },
    });
    expect(body.steps.map((one: any) => one.state)).toEqual(['DONE', 'CANCELLED', 'CANCELLED']);
    expect((await get('nodes')).items.filter((node: any) => node.lease?.run_id === 'running')).toEqual([]);
    expect(
      await server.database.sql("SELECT node_id, why FROM grants WHERE run_id = 'running' ORDER BY node_id"),
    ).toEqual([
      { node_id: 'n2', why: 'cancelled' },
      { node_id: 'n3', why: 'cancelled' },
    ]);
    expect(await server.database.sql("SELECT seq, state FROM attempts WHERE run_id = 'running' ORDER BY seq")).toEqual([
      { seq: 1, state: 'DONE' },
      { seq: 2, state: 'CANCELLED' },
    ]);
    const stored = await everything(server.database);
    expect(await n3.report(claimed)).toMatchObject({ status: 409, body: { code: 'stale_lease' } });
    expect(await everything(server.database)).toEqual(stored);
  });

  it.each([{ reason: 7 }, { reason: 'x'.repeat(2001) }])(
    'a reason that is none is a 400, and the run goes on',
    async (body) => {
      await server.node('n6', [{ role: 'r6' }]).advertise();
      await submit(R('r6', { run_id: 'goes-on' }));
      const refused = await cancel('goes-on', body);
      expect([refused.status, refused.body.errors[0].pointer]).toEqual([400, '/reason']);
      expect((await get('runs/goes-on')).state).toBe('RUNNING');
    },
  );

  it('a run that is over in another way stays as it is, and nobody is woken for it', async () => {
    const n4 = server.node('n4', [{ role: 'r4' }]);
    await n4.advertise();
    await submit(R('r4', { run_id: 'over' }));
    await n4.work();
    const [before, wakes] = [await get('runs/over'), await server.figure('mediator_wakes_total{why="cancel"}')];

    expect(await cancel('over')).toMatchObject({ status: 200, body: before });

    expect(before.state).toBe('SUCCEEDED');
    expect(await server.figure('mediator_wakes_total{why="cancel"}')).toBe(wakes);
  });

  it('a cancel that loses against the end reports the end', async () => {
    const n5 = server.node('n5', [{ role: 'r5' }]);
    await n5.advertise();
    await submit(R('r5', { run_id: 'ending' }));
    const claimed = (await n5.claim()).body;

    const [reported, cancelled] = await Promise.all([n5.report(claimed), cancel('ending')]);

    // Whoever came first, both answers tell of the same end.
    const end = (await get('runs/ending')).state;
    expect(cancelled.body.state).toBe(end);
    expect([reported.status, reported.body.run_state ?? reported.body.code]).toEqual(
      end === 'SUCCEEDED' ? [200, 'SUCCEEDED'] : [409, 'stale_lease'],
    );
  });

  it.each([
    ['GET', '/v1/runs/nobody'],
    ['POST', '/v1/runs/nobody/cancel'],
    ['GET', '/v1/runs/nobody/record'],
  ])('%s %s answers 404 not_found as a problem', async (method, path) => {
    const { status, headers, body } = await server.send(method, path);
    expect([status, headers.get('content-type')]).toEqual([404, 'application/problem+json; charset=utf-8']);
    expect(body).toMatchObject({ code: 'not_found', type: '/problems/not_found', status: 404, instance: path });
  });

  it.each([
    ['POST', '/v1/runs/nobody/steps/1/result', 'not_found'],
    ['POST', '/v1/runs/over/steps/2/result', 'not_found'],
    ['POST', '/v1/runs/over/steps/zero/result', 'not_found'],
    ['GET', '/v1/nowhere', 'route_not_found'],
  ])('%s %s answers 404 %s', async (method, path, code) => {
    const report = { node_id: 'n4', attempt: 1, exit_code: 0 };
    const asked = method === 'GET' ? {} : { body: report, headers: { 'mediator-lease': 'any' } };
    expect(await server.send(method, path, asked)).toMatchObject({ status: 404, body: { code } });
  });
});

import { describe, expect, it } from '@jest/globals';
import { question } from '../../support/asks.js';
import { needs, R, step } from '../../support/contracts.js';
import type { Answer } from '../../support/http.js';
import { blockedOn } from '../../support/parked.js';
import { hold, once } from '../../support/failpoints.js';
import { expectProblem } from '../../support/problem.js';
import { show, submit } from '../../support/queue.js';
import { serverSuite } from '../../support/server-suite.js';
import { everything } from '../../support/stored.js';
import { bearer, TokensFile } from '../../support/tokens.js';

describe('cancel', () => {
  const server = serverSuite();
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

describe('If-Match', () => {
  const file = new TokensFile();
  const [ann, bob, ops] = (['ann', 'bob', 'ops'] as const).map((name) => {
    return file.add({ name, role: name === 'ops' ? 'operator' : 'submitter' });
  }) as [string, string, string];
  const server = serverSuite({ tokens: file, token: ops });
  for (const name of ['x', 'y', 'z']) server.liveNode(name, { role: name });

  const start = async (run_id: string, role: string, more: object = {}): Promise<void> => {
    const body = { ...R(role, { run_id }), ...more };
    const headers = bearer(ann);
    expect((await server.send('POST', '/v1/runs', { body, headers })).status).toBe(201);
  };
  const version = async (runId: string): Promise<number> => (await show(server, runId)).version;
  const cancel = (runId: string, ifMatch: string, token = ann): Promise<Answer> =>
    server.send('POST', `/v1/runs/${runId}/cancel`, { headers: { ...bearer(token), 'if-match': ifMatch } });
  const reply = (runId: string, ifMatch: string, body: unknown = { ok: true }, token = ann): Promise<Answer> =>
    server.send('POST', `/v1/runs/${runId}/steps/1/answer`, {
      body,
      headers: { ...bearer(token), 'if-match': ifMatch },
    });

  it('of another version, a cancel changes nothing; of this one it cancels, and the ETag is the version then', async () => {
    await start('cancel', 'x');
    const now = await version('cancel');
    const before = await everything(server.database);
    for (const other of [`"${now + 1}"`, `"0", "${now}0"`, `W/"${now}"`, '""']) {
      const { detail } = expectProblem(await cancel('cancel', other), 412, 'version_mismatch');
      expect(detail).toContain(`version ${now}`);
    }
    expect(await everything(server.database)).toEqual(before);

    const cancelled = await cancel('cancel', `"0", W/"1", "${now}"`);
    expect(cancelled).toMatchObject({ status: 200, body: { state: 'CANCELLED', record: { state: 'SEALED' } } });
    expect(cancelled.headers.get('etag')).toBe(`"${cancelled.body.version}"`);
    expect(await version('cancel')).toBe(cancelled.body.version);
  });

  it('is asked of a run that is over, too', async () => {
    const over = await version('cancel');
    expectProblem(await cancel('cancel', `"${over - 1}"`), 412, 'version_mismatch');
    expect((await cancel('cancel', `"${over}"`)).status).toBe(200);
    expect((await cancel('cancel', '*')).status).toBe(200);
  });

  it('comes after 400, 404 and 403', async () => {
    await start('order', 'x');
    for (const malformed of ['1', '"1" "2"', '*, "1"', ',']) {
      expectProblem(await cancel('order', malformed), 400, 'invalid_request');
      expectProblem(await reply('order', malformed), 400, 'invalid_request');
    }
    expectProblem(await cancel('nowhere', '"0"'), 404, 'not_found');
    expectProblem(await reply('nowhere', '"0"'), 404, 'not_found');
    expectProblem(await cancel('order', '"0"', bob), 403, 'forbidden');
    expectProblem(await cancel('order', '"0"', ops), 412, 'version_mismatch');
    expect((await cancel('order', '*')).body.state).toBe('CANCELLED');
  });

  it('of an answer comes after who may give it, and before whether it is asked and whether it fits', async () => {
    await start('answer', 'x', { requires: [needs('x')], steps: [question('look', { answerers: ['ann'] })] });
    const now = await version('answer');
    expectProblem(await reply('answer', '"0"', { ok: true }, bob), 403, 'not_answerer');
    expectProblem(await reply('answer', '"0"', { ok: 'no' }), 412, 'version_mismatch');
    expectProblem(await reply('answer', `"${now}"`, { ok: 'no' }), 422, 'schema_violation');
    expectProblem(await reply('answer', '"0"'), 412, 'version_mismatch');

    expect(await reply('answer', `"${now}"`)).toMatchObject({ status: 200, body: { run_state: 'SUCCEEDED' } });

    expectProblem(await reply('answer', `"${now}"`), 412, 'version_mismatch');
    expectProblem(await reply('answer', `"${await version('answer')}"`), 409, 'not_asked');
    expectProblem(await reply('answer', '*'), 409, 'not_asked');
  });

  it('of an answer to a step that asks nothing comes before that it asks nothing', async () => {
    await start('no-question', 'x');
    expectProblem(await reply('no-question', '"0"'), 412, 'version_mismatch');
    expectProblem(await reply('no-question', `"${await version('no-question')}"`), 409, 'not_asked');
    await cancel('no-question', '*');
  });

  it.each([
    ['a cancel', 'y', (runId: string, tag: string) => cancel(runId, tag)],
    ['an answer', 'z', (runId: string, tag: string) => reply(runId, tag)],
  ])('of %s is judged behind the lock: what changed the run while it waited counts', async (_what, role, act) => {
    const runId = `behind-${role}`;
    const steps = [question('look'), { id: 'work', uses: role, run: ['true'], needs: [] }];
    await start(runId, role, { requires: [needs(role)], steps });
    const before = await version(runId);
    const claim = hold('claim.before-commit');
    const claimed = server.send('POST', `/v1/nodes/${role}/claim?wait=0`);
    await claim.reached;
    const acted = act(runId, `"${before}"`);
    await blockedOn(server.database, 'records.lock-run');
    claim.letGo();

    expect((await claimed).status).toBe(200);
    expectProblem(await acted, 412, 'version_mismatch');
    expect(await show(server, runId)).toMatchObject({ state: 'RUNNING', version: before + 1 });
    expect((await cancel(runId, `"${before + 1}"`)).body.state).toBe('CANCELLED');
  });

  it('knows of the seal: the version rises by one with it, so that ETag and 304 tell of it', async () => {
    await submit(server, R('x', { run_id: 'seal' }));
    once('seal.before-commit', () => {
      throw new Error('forced');
    });
    const open = await cancel('seal', '*', ops);
    expect(open.body).toMatchObject({ state: 'CANCELLED', record: { state: 'OPEN' } });
    const had = { headers: { 'if-none-match': open.headers.get('etag')! } };
    expect((await server.send('GET', '/v1/runs/seal', had)).status).toBe(304);

    expect((await server.reap()).sealed).toBe(1);

    const sealed = await server.send('GET', '/v1/runs/seal', had);
    expect(sealed).toMatchObject({
      status: 200,
      body: { version: open.body.version + 1, record: { state: 'SEALED' } },
    });
    expect(sealed.headers.get('etag')).toBe(`"${open.body.version + 1}"`);
    const { items } = (await server.send('GET', '/v1/runs')).body;
    expect(items.find(({ run_id }: any) => run_id === 'seal').version).toBe(open.body.version + 1);
    expectProblem(await cancel('seal', `"${open.body.version}"`, ops), 412, 'version_mismatch');
    expect((await cancel('seal', `"${open.body.version + 1}"`, ops)).status).toBe(200);
  });
});

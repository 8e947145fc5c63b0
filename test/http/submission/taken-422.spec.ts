import { afterAll, afterEach, beforeAll, describe, expect, it } from '@jest/globals';
import { R } from '../../support/contracts.js';
import { startTestMediator, type TestMediator } from '../../support/mediator.js';
import { expectProblem } from '../../support/problem.js';
import { barrier } from '../../support/barrier.js';
import { everything } from '../../support/stored.js';

describe('POST /v1/runs, 422 run_id_taken', () => {
  let server: TestMediator;
  beforeAll(async () => {
    server = await startTestMediator();
  });
  afterEach(async () => {
    expect(await server.violations()).toEqual([]);
  });
  afterAll(() => server.close());

  const by = (principal: string | undefined, contract: unknown, headers: Record<string, string> = {}) =>
    server.send('POST', '/v1/runs', {
      body: contract,
      headers: { ...headers, ...(principal !== undefined && { 'mediator-principal': principal }) },
    });

  /** What it says of the other's run: its id, which was sent, whose it is, and not a word more. */
  async function expectTaken(contract: Record<string, unknown>, principal = 'ann'): Promise<void> {
    const before = await everything(server.database);
    const wakes = await server.figure('mediator_wakes_total{why="enqueued"}');
    const answer = await by('bob', contract);
    const run_id = contract.run_id as string;
    const detail = `run ${run_id} already exists and belongs to ${principal}: submit under another id`;
    const { type, title, status, instance, code, request_id, ...rest } = answer.body;
    expectProblem(answer, 422, 'run_id_taken', '/v1/runs');
    expect([type, title, status, instance, code]).toEqual([
      '/problems/run_id_taken',
      'The run id is taken',
      422,
      '/v1/runs',
      'run_id_taken',
    ]);
    expect(request_id).toEqual(expect.any(String));
    expect(rest).toEqual({ detail, run_id, principal });
    expect([answer.headers.get('location'), answer.headers.get('etag')]).toEqual([null, null]);
    expect(await everything(server.database)).toEqual(before);
    expect(await server.figure('mediator_wakes_total{why="enqueued"}')).toBe(wakes);
  }

  it('N4: another principal submits a run id that exists: 422 run_id_taken; its own again: 200', async () => {
    await server.node('N4-N1', [{ role: 'n4' }]).advertise();
    const contract = R('n4', { run_id: 'n4-a' });
    expect((await by('ann', contract)).status).toBe(201);
    await expectTaken(contract);
    expect(await by('ann', contract)).toMatchObject({ status: 200, body: { run_id: 'n4-a', state: 'RUNNING' } });
  });

  it('N4: in every state, whatever the contract', async () => {
    const node = server.node('S1', [{ role: 's' }]);
    await node.advertise();
    const [running, waiting] = [R('s', { run_id: 's-a' }), R('s', { run_id: 's-b' })];
    await by('ann', running);
    await by('ann', waiting);
    const others = (run_id: string) => [
      R('s', { run_id }),
      R('s', { run_id, spread: true }),
      R('s-nowhere', { run_id }),
      R('n4', { run_id }),
    ];
    for (const contract of [...others('s-a'), ...others('s-b')]) await expectTaken(contract);
    await server.send('POST', '/v1/runs/s-b/cancel');
    await node.work();
    expect((await by('ann', R('s-nowhere', { run_id: 's-c' }))).status).toBe(422);
    for (const run_id of ['s-a', 's-b', 's-c']) for (const contract of others(run_id)) await expectTaken(contract);
    const mine = await Promise.all(['s-a', 's-b', 's-c'].map((run_id) => by('ann', R('s', { run_id }))));
    expect(mine.map(({ status, body }) => [status, body.state])).toEqual([
      [200, 'SUCCEEDED'],
      [200, 'CANCELLED'],
      [200, 'FAILED'],
    ]);
  });

  it('N4: who names nobody is anonymous, and that is somebody too; the id may come as Idempotency-Key', async () => {
    await server.node('K1', [{ role: 'k' }]).advertise();
    expect((await by(undefined, R('k', { run_id: 'k-a' }))).status).toBe(201);
    await expectTaken(R('k', { run_id: 'k-a' }), 'anonymous');
    const second = await by('bob', R('k'), { 'idempotency-key': 'k-a' });
    expect(second).toMatchObject({ status: 422, body: { code: 'run_id_taken', principal: 'anonymous' } });
    expect((await by(undefined, R('k'), { 'idempotency-key': 'k-a' })).status).toBe(200);
  });

  it('N4: a contract that is not valid is refused as such, and a dry run looks no id up', async () => {
    expect(await by('bob', R('n4', { run_id: 'n4-a', steps: [] }))).toMatchObject({
      status: 400,
      body: { code: 'invalid_contract' },
    });
    const dry = await server.send('POST', '/v1/runs/dry-run', {
      body: R('n4', { run_id: 'n4-a' }),
      headers: { 'mediator-principal': 'bob' },
    });
    expect(dry).toMatchObject({ status: 200, body: { run_id: 'n4-a', state: 'DRY_RUN' } });
  });

  it.each([
    ['free', 201],
    ['taken', 202],
    ['nowhere', 422],
  ])('N4: two principals at once, the node %s: one is %i, the other is told whose it is', async (which, status) => {
    const role = `race-${which}`;
    const run_id = `${role}-b`;
    if (which !== 'nowhere') await server.node(`RACE-${which}`, [{ role }]).advertise();
    if (which === 'taken') await by('ann', R(role, { run_id: `${role}-a` }));
    // Both have found no such run before either stores it.
    barrier('submit.matched', 2);
    const answers = await Promise.all(['ann', 'bob'].map((who) => by(who, R(role, { run_id }))));
    const [owner] = await server.database.sql<{ principal: string }>('SELECT principal FROM runs WHERE run_id = $1', [
      run_id,
    ]);
    const [first, late] = owner!.principal === 'ann' ? answers : answers.reverse();
    expect(first!.status).toBe(status);
    expect(first!.body.code).not.toBe('run_id_taken');
    expect(late).toMatchObject({ status: 422, body: { code: 'run_id_taken', run_id, principal: owner!.principal } });
  });
});

import { describe, expect, it } from '@jest/globals';
import { answer, asksOf, inbox, question, YES_OR_NO } from '../../support/asks.js';
import { needs, R, step } from '../../support/contracts.js';
import { expectProblem } from '../../support/problem.js';
import { cancel, countWakes, promotion, show, states, submit, submitAll } from '../../support/queue.js';
import { serverSuite } from '../../support/server-suite.js';

describe('a run that waits for a person', () => {
  const server = serverSuite();
  const join = async (nodeId: string, role: string) => {
    const node = server.node(nodeId, [{ role }]);
    await node.advertise();
    return node;
  };
  const start = async (run_id: string, role: string, ...steps: object[]): Promise<void> => {
    expect((await submit(server, { run_id, requires: [needs(role)], steps })).status).toBe(201);
  };
  const passDeadline = (runId: string): Promise<unknown> =>
    server.database.sql(
      "UPDATE asks SET deadline = clock_timestamp() - interval '1 ms' WHERE run_id = $1 AND state = 'OPEN'",
      [runId],
    );
  const runOut = (runId: string): Promise<unknown> =>
    server.database.sql("UPDATE leases SET not_after = clock_timestamp() - interval '1 s' WHERE run_id = $1", [runId]);

  it('B8 nobody answers in time: the run FAILED ask_expired, and who waits for its node is RUNNING', async () => {
    await join('B8-N1', 'b8');
    await start('b8-a', 'b8', question('look', { timeout_seconds: 1 }), step('after', 'b8'));
    expect(await submitAll(server, R('b8', { run_id: 'b8-b' }))).toEqual([202]);
    await passDeadline('b8-a');
    const counted = await countWakes(server);

    expect(await server.reap()).toMatchObject({ asks: 1, errors: 0 });

    expect(await show(server, 'b8-a')).toMatchObject({
      state: 'FAILED',
      verdict: { reason: 'ask_expired', detail: expect.stringContaining('look'), by: { kind: 'server' } },
      steps: [{ state: 'FAILED', result: { error: expect.stringContaining('answered') } }, { state: 'CANCELLED' }],
      record: { state: 'SEALED' },
    });
    expect(await promotion(server, 'b8-b')).toEqual({ state: 'RUNNING', whys: ['reaper'], holds: ['B8-N1'] });
    expect(await counted()).toEqual({ wakes: { reaper: 1 }, sweeps: { clean: 1 } });
    expect(await asksOf(server, 'b8-a')).toMatchObject([{ state: 'EXPIRED', answer: null }]);
    expect(await inbox(server)).toEqual([]);
    expect(expectProblem(await answer(server, 'b8-a', 1), 409, 'not_asked').detail).toContain('expired');
  });

  it('D8 at-boundary while a run only waits for a person: the advert itself cancels it, and lists no lease', async () => {
    const node = await join('D8-N1', 'd8');
    await start('d8-a', 'd8', question('look'), step('after', 'd8'));
    expect(await submitAll(server, R('d8', { run_id: 'd8-b' }))).toEqual([202]);

    expect((await node.advertise({ drain: 'at-boundary' })).body).toMatchObject({ drain: 'at-boundary', leases: [] });

    expect(await show(server, 'd8-a')).toMatchObject({
      state: 'CANCELLED',
      verdict: { reason: 'drained', by: { kind: 'node', name: 'D8-N1' } },
      steps: [{ state: 'CANCELLED' }, { state: 'CANCELLED' }],
    });
    expect(await asksOf(server, 'd8-a')).toMatchObject([{ state: 'CANCELLED' }]);
    expectProblem(await answer(server, 'd8-a', 1), 409, 'not_asked');
    expect(await show(server, 'd8-b')).toMatchObject({ state: 'QUEUED', waiting: { reason: 'DRAINING' } });
    await cancel(server, 'd8-b');
  });

  it('a question within its time, or without any, is left alone; an answer just past it, before the reaper, counts', async () => {
    await join('T-N1', 't');
    await start('t-a', 't', question('look', { timeout_seconds: 3600 }), question('more'));
    expect(await server.reap()).toMatchObject({ asks: 0 });
    await passDeadline('t-a');
    expect((await answer(server, 't-a', 1)).body.run_state).toBe('RUNNING');
    expect(await server.reap()).toMatchObject({ asks: 0 });
    expect(await states(server, 't-a')).toEqual(['RUNNING']);
    expect((await answer(server, 't-a', 2)).body.run_state).toBe('SUCCEEDED');
  });

  it('of two questions of a run, the one that expires ends it and withdraws the other', async () => {
    await join('W-N1', 'w');
    await start('w-a', 'w', question('one', { timeout_seconds: 60 }), question('two', {}, { needs: [] }));
    await passDeadline('w-a');
    await server.reap();
    expect(await asksOf(server, 'w-a')).toMatchObject([{ state: 'EXPIRED' }, { state: 'CANCELLED' }]);
    expect((await show(server, 'w-a')).steps).toMatchObject([{ state: 'FAILED' }, { state: 'CANCELLED' }]);
  });

  it('is not ended by the silence of its nodes, and goes on when it is answered', async () => {
    const node = await join('S-N1', 's');
    await start('s-a', 's', question('look'), step('after', 's'));
    await runOut('s-a');
    expect(await server.reap()).toMatchObject({ expired: 0, errors: 0 });
    expect(await states(server, 's-a')).toEqual(['RUNNING']);

    // With its next heartbeat the node has its lease again.
    await node.advertise();
    await answer(server, 's-a', 1);
    expect(await server.reap()).toMatchObject({ expired: 0 });
    expect((await node.work()).body.run_state).toBe('SUCCEEDED');
  });

  it.each([
    ['is under way', true],
    ['is ready', false],
  ])('is ended by the silence of a node on which another step %s', async (_what, claims) => {
    const runId = `c-${claims}`;
    const node = await join(`N-${claims}`, runId);
    await start(runId, runId, question('look'), step('beside', runId, { needs: [] }), step('after', runId));
    const claimed = claims ? (await node.claim()).body.id : undefined;
    expect(claimed).toBe(claims ? 'beside' : undefined);
    await runOut(runId);
    expect(await server.reap()).toMatchObject({ expired: 1 });
    expect(await show(server, runId)).toMatchObject({ state: 'FAILED', verdict: { reason: 'lease_expired' } });
    expect(await asksOf(server, runId)).toMatchObject([{ state: 'CANCELLED' }]);
    expect(await inbox(server)).toEqual([]);
  });

  it('is ended by the silence of its nodes as soon as the answer has made a step ready', async () => {
    await join('R-N1', 'r');
    await start('r-a', 'r', question('look'), step('after', 'r'));
    await runOut('r-a');
    await server.reap();
    await answer(server, 'r-a', 1);
    expect(await server.reap()).toMatchObject({ expired: 1 });
    expect((await show(server, 'r-a')).verdict.reason).toBe('lease_expired');
  });

  it('a cancel withdraws the question', async () => {
    await join('X-N1', 'cancelled');
    await start('x-a', 'cancelled', question('look'));
    expect((await cancel(server, 'x-a')).body.state).toBe('CANCELLED');
    expect(await asksOf(server, 'x-a')).toMatchObject([{ state: 'CANCELLED' }]);
    expect(await inbox(server)).toEqual([]);
    expectProblem(await answer(server, 'x-a', 1), 409, 'not_asked');
  });

  it('a node that drains at the boundary ends the run while its question is open', async () => {
    const node = await join('D-N1', 'drain');
    await start('d-a', 'drain', question('look'));
    await node.advertise({ drain: 'at-boundary' });
    expect(await show(server, 'd-a')).toMatchObject({ state: 'CANCELLED', verdict: { reason: 'drained' } });
    expect(await inbox(server)).toEqual([]);
  });
});

describe('a question with a default', () => {
  const server = serverSuite();
  const start = async (role: string, ...steps: object[]): Promise<void> => {
    await server.node(`${role}-n`, [{ role }]).advertise();
    expect((await submit(server, { run_id: role, requires: [needs(role)], steps })).status).toBe(201);
  };
  const passDeadline = (runId: string): Promise<unknown> =>
    server.database.sql(
      "UPDATE asks SET deadline = clock_timestamp() - interval '1 ms' WHERE run_id = $1 AND state = 'OPEN'",
      [runId],
    );
  const timed = (more: Record<string, unknown> = {}) => ({ timeout_seconds: 60, default: { ok: false }, ...more });

  it('is answered by it when the time is over: stored, shown, told, and the run goes on', async () => {
    await start('plain', question('look', timed()), step('after', 'plain'));
    expect(await server.reap()).toMatchObject({ asks: 0, errors: 0 });
    await passDeadline('plain');
    expect(await server.reap()).toMatchObject({ asks: 1, errors: 0 });

    expect(await show(server, 'plain')).toMatchObject({
      state: 'RUNNING',
      steps: [
        { state: 'DONE', result: { produced: ['verdict'], answer: { ok: false }, answered_by: 'default' } },
        { state: 'PENDING' },
      ],
    });
    expect(await asksOf(server, 'plain')).toMatchObject([
      { state: 'ANSWERED', answer: { ok: false }, answered_by: 'default' },
    ]);
    const { body } = await server.send('GET', '/v1/runs/plain/blobs/verdict');
    expect(body).toEqual({ ok: false });
    const events = await server.database.sql("SELECT data FROM events WHERE run_id = 'plain' AND kind = 'answered'");
    expect(events).toMatchObject([{ data: { seq: 1, attempt: 1, by: 'default' } }]);
    const late = await answer(server, 'plain', 1);
    expect(expectProblem(late, 409, 'not_asked').detail).toContain('already answered by default');
  });

  it('has all effects of an answer: it dispatches, gives nodes back, raises the next question, and wakes', async () => {
    const schema = { verdict: { type: 'object', required: ['next'] } };
    const dispatch = { from: 'verdict.next', to: ['left', 'right'] };
    const ask = timed({ default: { next: 'right' } });
    await start(
      'fx',
      question('look', ask, { schema, dispatch, release: ['fx'] }),
      question('left', {}, { needs: ['look'] }),
      question('right', {}, { needs: ['look'] }),
    );
    expect(await submitAll(server, R('fx', { run_id: 'fx-next' }))).toEqual([202]);
    await passDeadline('fx');
    expect(await server.reap()).toMatchObject({ asks: 1, errors: 0 });
    expect((await show(server, 'fx')).steps).toMatchObject([
      { state: 'DONE', result: { branch: 'right', answered_by: 'default' } },
      { state: 'SKIPPED' },
      { state: 'ASKED' },
    ]);
    expect(await promotion(server, 'fx-next')).toMatchObject({ state: 'RUNNING', whys: ['reaper'] });
  });

  it('ends the run where it was the last step, by the server', async () => {
    await start('last', question('look', timed()));
    await passDeadline('last');
    expect(await server.reap()).toMatchObject({ asks: 1, errors: 0 });
    expect(await show(server, 'last')).toMatchObject({
      state: 'SUCCEEDED',
      verdict: { by: { kind: 'server' } },
      record: { state: 'SEALED' },
    });
  });

  it('is not asked of by a person’s answer in time', async () => {
    await start('person', question('look', timed()));
    expect((await answer(server, 'person', 1, { ok: true })).status).toBe(200);
    await passDeadline('person');
    expect(await server.reap()).toMatchObject({ asks: 0, errors: 0 });
    expect(await asksOf(server, 'person')).toMatchObject([{ answer: { ok: true }, answered_by: 'ann' }]);
  });

  it('has its time anew each time a loop raises it', async () => {
    const node = server.node('again-n', [{ role: 'again' }]);
    await start(
      'again',
      question('look', timed()),
      step('try', 'again', { loop: { back_to: 'look', max: 3, until: { exit_code: 0 } } }),
    );
    await passDeadline('again');
    expect(await server.reap()).toMatchObject({ asks: 1, errors: 0 });
    await node.advertise();
    await node.report((await node.claim()).body, { exit_code: 1 });
    expect(await server.reap()).toMatchObject({ asks: 0, errors: 0 });
    const [second] = await server.database.sql<{ left: string }>(
      "SELECT extract(epoch FROM deadline - asked_at) AS left FROM asks WHERE run_id = 'again' AND attempt = 2 AND state = 'OPEN'",
    );
    expect(Number(second!.left)).toBeCloseTo(60);
    await passDeadline('again');
    expect(await server.reap()).toMatchObject({ asks: 1, errors: 0 });
    expect(await asksOf(server, 'again')).toMatchObject([
      { attempt: 1, answered_by: 'default' },
      { attempt: 2, answered_by: 'default' },
    ]);
  });

  it('that does not fit is a 400, of a submission and of a dry run', async () => {
    await server.node('bad-n', [{ role: 'bad' }]).advertise();
    const steps = [question('look', timed({ default: { ok: 'yes' } }), { schema: { verdict: YES_OR_NO } })];
    const errors = [{ pointer: '/steps/0/ask/default/ok', detail: 'The value must be boolean.' }];
    for (const path of ['/v1/runs', '/v1/runs/dry-run']) {
      const refused = await server.send('POST', path, { body: { requires: [needs('bad')], steps } });
      expect(expectProblem(refused, 400, 'invalid_contract')).toMatchObject({ errors });
    }
  });

  it('nobody is called so', async () => {
    await start('named', question('look'));
    const refused = await answer(server, 'named', 1, { ok: true }, 'default');
    expect(expectProblem(refused, 400, 'invalid_request').detail).toMatch(/Mediator-Principal must not be "default"/);
  });
});

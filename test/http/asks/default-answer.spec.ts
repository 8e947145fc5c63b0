import { afterAll, afterEach, beforeAll, describe, expect, it } from '@jest/globals';
import { answer, asksOf, question, YES_OR_NO } from '../../support/asks.js';
import { needs, R, step } from '../../support/contracts.js';
import { startTestMediator, type TestMediator } from '../../support/mediator.js';
import { expectProblem } from '../../support/problem.js';
import { promotion, show, submit, submitAll } from '../../support/queue.js';

describe('a question with a default', () => {
  let server: TestMediator;
  beforeAll(async () => {
    server = await startTestMediator();
  });
  afterEach(async () => expect(await server.violations()).toEqual([]));
  afterAll(() => server.close());

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

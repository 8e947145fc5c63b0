import { afterEach, describe, expect, it } from '@jest/globals';
import { answer, asksOf, inbox, question } from '../../support/asks.js';
import { needs, R, step } from '../../support/contracts.js';
import { expectProblem } from '../../support/problem.js';
import { countWakes, promotion, show, states, submit, submitAll } from '../../support/queue.js';
import { everything } from '../../support/stored.js';
import { serverSuite } from '../../support/server-suite.js';

describe('the answer to a question', () => {
  const server = serverSuite();
  const n1 = server.liveNode('n1', { role: 'x' });
  const n2 = server.liveNode('n2', { role: 'y' });
  afterEach(async () => {
    expect(await server.database.sql('SELECT * FROM leases')).toEqual([]);
  });
  const start = async (run_id: string, steps: object[], more: object = {}): Promise<void> => {
    expect((await submit(server, { run_id, requires: [needs('x')], steps, ...more })).status).toBe(201);
  };
  const finish = (runId: string): Promise<unknown> => server.send('POST', `/v1/runs/${runId}/cancel`);
  const path = (runId: string): string => `/v1/runs/${runId}/steps/1/answer`;

  it('becomes the output of the step, with who gave it and when, and the run goes on', async () => {
    await start('goes-on', [question('look'), step('after', 'x')]);
    expect((await n1.claim()).status).toBe(204);

    const given = { ok: true, note: 'bright — ✓', constructor: { deep: [1, null] }, __proto__: 'x' };
    Object.defineProperty(given, '__proto__', { value: 'kept', enumerable: true });
    expect(await answer(server, 'goes-on', 1, given, 'lab-desk')).toMatchObject({
      status: 200,
      body: { run_id: 'goes-on', seq: 1, step_state: 'DONE', rolled_back: false, run_state: 'RUNNING' },
    });

    const { steps } = await show(server, 'goes-on');
    expect(steps[0]).toMatchObject({ state: 'DONE', attempt: 1 });
    expect(JSON.stringify(steps[0].result)).toBe(
      JSON.stringify({ produced: ['verdict'], answer: given, answered_by: 'lab-desk' }),
    );
    const [stored] = await server.database.sql<any>(
      `SELECT b.name, b.media_type, b.attempt, b.published_at IS NOT NULL AS published, convert_from(c.bytes, 'UTF8') AS text
         FROM blobs b JOIN blob_chunks c USING (upload_id) WHERE run_id = 'goes-on'`,
    );
    expect(stored).toEqual({
      name: 'verdict',
      media_type: 'application/json',
      attempt: 1,
      published: true,
      text: JSON.stringify(given),
    });
    expect(await server.database.sql("SELECT data FROM events WHERE run_id = 'goes-on' AND kind = 'answered'")).toEqual(
      [{ data: { seq: 1, attempt: 1, by: 'lab-desk' } }],
    );
    expect(
      await server.database.sql("SELECT seq, state, ended_at IS NULL AS open FROM attempts WHERE run_id = 'goes-on'"),
    ).toEqual([{ seq: 1, state: 'DONE', open: false }]);
    expect(await inbox(server)).toEqual([]);
    expect((await n1.work()).body.run_state).toBe('SUCCEEDED');
  });

  it('B22 it ends the run, and who waits for its node is RUNNING right after', async () => {
    await start('b22-a', [step('work', 'x'), question('look')]);
    expect(await submitAll(server, R('x', { run_id: 'b22-b' }))).toEqual([202]);
    await n1.work();
    expect(await states(server, 'b22-a', 'b22-b')).toEqual(['RUNNING', 'QUEUED']);
    const counted = await countWakes(server);

    expect((await answer(server, 'b22-a', 2)).body).toMatchObject({ step_state: 'DONE', run_state: 'SUCCEEDED' });

    expect(await promotion(server, 'b22-b')).toEqual({ state: 'RUNNING', whys: ['answer'], holds: ['n1'] });
    expect(await counted()).toEqual({ wakes: { answer: 1 }, sweeps: { clean: 1 } });
    expect(await show(server, 'b22-a')).toMatchObject({
      verdict: { reason: 'succeeded', by: { kind: 'person', name: 'ann' } },
      record: { state: 'SEALED' },
    });
    expect((await n1.work()).body.run_state).toBe('SUCCEEDED');
  });

  it('F4 answerers name p, q answers: 403, and the question stays open for p', async () => {
    await start('f4', [question('look', { answerers: ['p', 'pp'] })]);
    const stored = await everything(server.database);
    const problem = expectProblem(await answer(server, 'f4', 1, { ok: true }, 'q'), 403, 'not_answerer', path('f4'));
    expect(problem.detail).toContain('p, pp');
    // Nor does it tell whether the answer would have fitted.
    expectProblem(await answer(server, 'f4', 1, { ok: 'no' }, 'q'), 403, 'not_answerer');
    expect(await everything(server.database)).toEqual(stored);
    expect(await inbox(server, 'q')).toMatchObject([{ run_id: 'f4', can_answer: false, answerers: ['p', 'pp'] }]);
    expect(await inbox(server, 'p')).toMatchObject([{ run_id: 'f4', can_answer: true }]);
    expect((await answer(server, 'f4', 1, { ok: true }, 'p')).body.run_state).toBe('SUCCEEDED');
    expectProblem(await answer(server, 'f4', 1, { ok: true }, 'q'), 403, 'not_answerer');
  });

  it('what does not fit the schema is a 422 with a pointer to each fault, and the question stays open', async () => {
    const schema = { verdict: { type: 'object', required: ['ok', 'why'], properties: { ok: { type: 'boolean' } } } };
    await start('unfit', [question('look', {}, { schema })]);
    const stored = await everything(server.database);
    const { errors } = expectProblem(await answer(server, 'unfit', 1, { ok: 'yes' }), 422, 'schema_violation');
    expect(errors.map((fault: any) => fault.pointer).sort()).toEqual(['', '/ok']);
    for (const body of ['text', 1, null, [], [{ ok: true, why: '' }]]) {
      expectProblem(await answer(server, 'unfit', 1, body), 422, 'schema_violation');
    }
    expect(await everything(server.database)).toEqual(stored);
    expect((await answer(server, 'unfit', 1, { ok: true, why: 'it blinks' })).body.run_state).toBe('SUCCEEDED');
  });

  it('a run, a step or a question that is not there', async () => {
    expectProblem(await answer(server, 'nowhere', 1), 404, 'not_found', path('nowhere'));
    await start('places', [step('work', 'x'), question('look')]);
    for (const seq of ['3', '0', '-1', 'look', '1.0', '99999999999'] as any[]) {
      expectProblem(await answer(server, 'places', seq), 404, 'not_found');
    }
    expectProblem(await answer(server, 'places', 1), 409, 'not_asked');
    expectProblem(await answer(server, 'places', 2), 409, 'not_asked');
    expect((await submit(server, { ...R('x'), run_id: 'waits', steps: [question('look')] })).status).toBe(202);
    expectProblem(await answer(server, 'waits', 1), 409, 'not_asked');
    await finish('waits');
    await finish('places');
  });

  it('a late answer is a 409 that changes nothing: answered, withdrawn by the end of the run', async () => {
    await start('late', [question('look'), step('after', 'x')]);
    await answer(server, 'late', 1, { ok: false }, 'bob');
    const problem = expectProblem(await answer(server, 'late', 1), 409, 'not_asked');
    expect(problem.detail).toContain('bob');
    await finish('late');
    expectProblem(await answer(server, 'late', 1), 409, 'not_asked');
    expect(await asksOf(server, 'late')).toMatchObject([
      { state: 'ANSWERED', answer: { ok: false }, answered_by: 'bob' },
    ]);

    await start('withdrawn', [question('look'), question('too', {}, { needs: [] })]);
    expect((await inbox(server)).map(({ run_id, seq }) => [run_id, seq])).toEqual([
      ['withdrawn', 1],
      ['withdrawn', 2],
    ]);
    await finish('withdrawn');
    expect(await inbox(server)).toEqual([]);
    expect(await asksOf(server, 'withdrawn')).toMatchObject([{ state: 'CANCELLED' }, { state: 'CANCELLED' }]);
    const stored = await everything(server.database);
    expectProblem(await answer(server, 'withdrawn', 1), 409, 'not_asked');
    expect(await everything(server.database)).toEqual(stored);
  });

  describe('with what follows from it', () => {
    const choice = { verdict: { type: 'object', required: ['go'], properties: { go: { type: 'string' } } } };
    const branching = [
      question('look', {}, { schema: choice, dispatch: { from: 'verdict.go', to: ['good', 'bad'] } }),
      step('good', 'x'),
      step('bad', 'x'),
      step('join', 'x', { needs: ['good', 'bad'] }),
    ];

    it('it chooses a branch', async () => {
      await start('branch', branching);
      await answer(server, 'branch', 1, { go: 'bad' });
      const { steps } = await show(server, 'branch');
      expect(steps[0].result).toMatchObject({ branch: 'bad', answered_by: 'ann' });
      expect(steps.map((one: any) => one.state)).toEqual(['DONE', 'SKIPPED', 'PENDING', 'PENDING']);
      expect((await n1.claim()).body.id).toBe('bad');
      await finish('branch');
    });

    it('a choice that is none fails the step, though the answer fits its schema', async () => {
      await start('no-branch', branching);
      expect((await answer(server, 'no-branch', 1, { go: 'home' })).body).toMatchObject({
        step_state: 'FAILED',
        run_state: 'FAILED',
      });
      expect(await asksOf(server, 'no-branch')).toMatchObject([{ state: 'ANSWERED', answer: { go: 'home' } }]);
      expect(await show(server, 'no-branch')).toMatchObject({
        verdict: { reason: 'step_failed', by: { kind: 'person', name: 'ann' } },
        steps: [
          { result: { answer: { go: 'home' }, error: expect.stringContaining('must be one of good, bad') } },
          {},
          {},
          {},
        ],
        record: { state: 'SEALED' },
      });
    });

    it('it gives a node back, and who waits for it gets it, though the run goes on', async () => {
      await start('release', [step('work', 'x'), question('look', {}, { release: ['x'] }), step('after', 'y')], {
        requires: [needs('x'), needs('y')],
      });
      await n1.work();
      expect(await submitAll(server, R('x', { run_id: 'released-to' }))).toEqual([202]);
      expect((await answer(server, 'release', 2)).body).toMatchObject({ step_state: 'DONE', run_state: 'RUNNING' });
      expect(await promotion(server, 'released-to')).toEqual({ state: 'RUNNING', whys: ['answer'], holds: ['n1'] });
      expect(await promotion(server, 'release')).toMatchObject({ holds: ['n2'] });
      expect((await n1.work()).body.run_state).toBe('SUCCEEDED');
      expect((await n2.work()).body.run_state).toBe('SUCCEEDED');
    });

    it('it raises the next question, and takes one more node', async () => {
      await start('further', [
        question('look'),
        question('sure'),
        { id: 'more', acquire: { want: needs('y'), acquired: 'with', unavailable: 'without' } },
        step('with', 'y'),
        step('without', 'x'),
      ]);
      expect((await answer(server, 'further', 1)).body.run_state).toBe('RUNNING');
      expect(await inbox(server)).toMatchObject([{ run_id: 'further', seq: 2, id: 'sure', prompt: 'sure?' }]);
      expect((await answer(server, 'further', 2)).body.step_state).toBe('DONE');
      expect(await promotion(server, 'further')).toMatchObject({ holds: ['n1', 'n2'] });
      expect((await n2.work()).body.run_state).toBe('SUCCEEDED');
    });

    it('a loop that goes round asks again, and the answers of both rounds are kept', async () => {
      const loop = { back_to: 'look', max: 3, until: { exit_code: 0 } };
      await start('loop', [question('look'), step('try', 'x', { allow_failure: true, loop })]);
      await answer(server, 'loop', 1, { ok: true, round: 1 }, 'ann');
      expect((await n1.work({ exit_code: 1 })).body).toMatchObject({ step_state: 'PENDING', rolled_back: true });

      expect(await inbox(server)).toMatchObject([{ run_id: 'loop', seq: 1 }]);
      expect((await show(server, 'loop')).steps).toMatchObject([
        { state: 'ASKED', attempt: 2 },
        { state: 'PENDING', attempt: 2 },
      ]);
      await answer(server, 'loop', 1, { ok: true, round: 2 }, 'bob');
      expect((await n1.work()).body.run_state).toBe('SUCCEEDED');
      expect(await asksOf(server, 'loop')).toMatchObject([
        { attempt: 1, state: 'ANSWERED', answer: { round: 1 }, answered_by: 'ann' },
        { attempt: 2, state: 'ANSWERED', answer: { round: 2 }, answered_by: 'bob' },
      ]);
    });
  });

  it('a body that is no answer at all is a 400, too large a one a 413', async () => {
    await start('bodies', [question('look')]);
    const stored = await everything(server.database);
    const post = async (body: string, type = 'application/json'): Promise<[number, string, string | undefined]> => {
      const headers = { 'content-type': type };
      const sent = await fetch(server.url + path('bodies'), { method: 'POST', headers, body });
      const told: any = await sent.json();
      return [sent.status, told.code, told.errors?.[0].pointer];
    };
    expect(await post('')).toEqual([400, 'invalid_request', undefined]);
    expect(await post('{"ok":')).toEqual([400, 'invalid_request', undefined]);
    expect(await post('{"ok":true,"note":["\\u0000"]}')).toEqual([400, 'invalid_request', '/note/0']);
    expect(await post('{"ok":true,"note":"\\ud800"}')).toEqual([400, 'invalid_request', '/note']);
    expect(await post('{"ok":true,"n":1e999}')).toEqual([400, 'invalid_request', '/n']);
    expect((await post(`${'{"ok":'.repeat(300)}1${'}'.repeat(300)}`)).slice(0, 2)).toEqual([400, 'invalid_request']);
    expect(await post('ok=true', 'text/plain')).toEqual([415, 'unsupported_media_type', undefined]);
    const note = 'x'.repeat(256 * 1024);
    expect(await post(JSON.stringify({ ok: true, note }))).toEqual([413, 'too_large', undefined]);
    expect(await everything(server.database)).toEqual(stored);
    // 256 KiB altogether is taken.
    const most = { ok: true, note: note.slice(JSON.stringify({ ok: true, note: '' }).length) };
    expect((await answer(server, 'bodies', 1, most)).body.run_state).toBe('SUCCEEDED');
  });
});

import { afterEach, describe, expect, it } from '@jest/globals';
import { needs, R, step } from '../../support/contracts.js';
import { everything } from '../../support/stored.js';
import { serverSuite } from '../../support/server-suite.js';

describe('the report of a step', () => {
  const server = serverSuite();
  const n1 = server.liveNode('n1', { role: 'x' });
  afterEach(async () => {
    expect(await server.database.sql('SELECT * FROM leases')).toEqual([]);
  });
  const submit = async (run_id: string, steps: object[], more: object = {}): Promise<void> => {
    const body = { run_id, requires: [needs('x')], steps, ...more };
    expect(await server.send('POST', '/v1/runs', { body })).toMatchObject({ status: 201, body: { state: 'RUNNING' } });
  };
  const get = async (runId: string): Promise<any> => (await server.send('GET', `/v1/runs/${runId}`)).body;

  it('C5 exit 2 of a step that may fail is DONE, the next step comes, and the run SUCCEEDED', async () => {
    await submit('may-fail', [step('one', 'x', { allow_failure: true }), step('two', 'x')]);
    expect((await n1.work({ exit_code: 2 })).body).toEqual({
      run_id: 'may-fail',
      seq: 1,
      step_state: 'DONE',
      rolled_back: false,
      run_state: 'RUNNING',
    });
    expect((await n1.work()).body).toMatchObject({ seq: 2, step_state: 'DONE', run_state: 'SUCCEEDED' });
    const run = await get('may-fail');
    expect(run.verdict).toMatchObject({ reason: 'succeeded', by: { kind: 'node', name: 'n1' } });
    expect(run.steps.map((one: any) => one.result)).toEqual([{ exit_code: 2 }, { exit_code: 0 }]);
  });

  it('C5 exit 2 of a step that may not fail: FAILED step_failed, and later steps are never handed out', async () => {
    const steps = [step('one', 'x'), step('two', 'x'), step('free', 'x', { needs: [] })];
    await submit('fails', steps);
    expect((await n1.work({ exit_code: 2 })).body).toMatchObject({ step_state: 'FAILED', run_state: 'FAILED' });

    expect((await n1.claim()).status).toBe(204);
    const run = await get('fails');
    expect(run).toMatchObject({
      state: 'FAILED',
      verdict: { reason: 'step_failed', detail: 'step one failed with exit code 2', by: { kind: 'node', name: 'n1' } },
      record: { state: 'SEALED' },
    });
    expect(run.verdict.checks).toEqual([{ step: 'one', what: 'state', want: 'DONE', got: 'FAILED', ok: false }]);
    expect(run.steps.map(({ state, started_at }: any) => [state, started_at !== null])).toEqual([
      ['FAILED', true],
      ['CANCELLED', false],
      ['CANCELLED', false],
    ]);
    expect(await server.database.sql("SELECT seq, state FROM attempts WHERE run_id = 'fails'")).toEqual([
      { seq: 1, state: 'FAILED' },
    ]);
  });

  it.each([
    ['wanted and met', 2, 2, 'SUCCEEDED', 'succeeded'],
    ['0 wanted, 2 found', 0, 2, 'FAILED', 'conditions_unmet'],
    ['2 wanted, 0 found', 2, 0, 'FAILED', 'conditions_unmet'],
  ])('C5 a condition on the exit code, %s: the run is judged by it', async (_what, want, got, state, reason) => {
    const runId = `condition-${want}-${got}`;
    const steps = [step('one', 'x', { allow_failure: true }), step('two', 'x')];
    await submit(runId, steps, { success_when: [{ step: 'one', exit_code: want }] });
    // Whether the condition holds is known after the first step; it is judged when the last has ended.
    expect((await n1.work({ exit_code: got })).body).toMatchObject({ step_state: 'DONE', run_state: 'RUNNING' });
    expect((await n1.work()).body).toMatchObject({ step_state: 'DONE', run_state: state });
    expect(await get(runId)).toMatchObject({
      state,
      verdict: { reason, checks: [{ step: 'one', what: 'exit_code', want, got, ok: want === got }] },
    });
  });

  it('C5 a step that failed ends the run though every condition holds', async () => {
    await submit('one-of-two', [step('one', 'x'), step('two', 'x')], { success_when: [{ step: 'one', exit_code: 0 }] });
    await n1.work();
    expect((await n1.work({ exit_code: 1 })).body).toMatchObject({ step_state: 'FAILED', run_state: 'FAILED' });
    expect((await get('one-of-two')).verdict.reason).toBe('step_failed');
  });

  it('an error fails the step whatever its exit code and though it may fail, and the verdict says it', async () => {
    await submit('error', [step('only', 'x', { allow_failure: true })]);
    expect((await n1.work({ exit_code: 0, error: 'no such board' })).body.run_state).toBe('FAILED');
    expect(await get('error')).toMatchObject({
      verdict: { reason: 'step_failed', detail: 'step only failed: no such board' },
      steps: [{ result: { exit_code: 0, error: 'no such board' } }],
    });
  });

  it('N3: NUL and lone surrogates in an error become U+FFFD, and the report is taken', async () => {
    await submit('n3', [step('one', 'x')]);
    const { body: claim } = await n1.claim();
    const sent = await fetch(`${server.url}/v1/runs/n3/steps/1/result`, {
      method: 'POST',
      headers: { 'content-type': 'application/json', 'mediator-lease': claim.lease.nonce },
      body: '{"node_id":"n1","attempt":1,"error":"boot\\u0000\\ud83d \\ude00: \\ud83d\\ude00"}',
    });
    expect([sent.status, await sent.json()]).toMatchObject([200, { step_state: 'FAILED', run_state: 'FAILED' }]);
    const error = 'boot\ufffd\ufffd \ufffd: 😀';
    const run = await get('n3');
    expect(run.steps[0].result).toEqual({ error });
    expect(run.verdict.detail).toContain(error);
    expect(run.record.state).toBe('SEALED');
  });

  it('a name in produced that was not uploaded fails the step and is named', async () => {
    await submit('produced', [step('only', 'x', { allow_failure: true })]);
    expect((await n1.work({ exit_code: 0, produced: ['image'] })).body.step_state).toBe('FAILED');
    expect((await get('produced')).verdict.detail).toContain('not uploaded in this attempt: image');
  });

  it('a field that is null counts as absent', async () => {
    await submit('nulls', [step('only', 'x')]);
    const claimed = (await n1.claim()).body;
    const nothing = { exit_code: null, error: null, produced: null };
    const refused = await n1.report(claimed, nothing);
    expect([refused.status, refused.body.errors?.[0].pointer]).toEqual([400, '/exit_code']);
    expect((await n1.report(claimed, { ...nothing, exit_code: 0 })).body).toMatchObject({
      step_state: 'DONE',
      run_state: 'SUCCEEDED',
    });
    expect((await get('nulls')).steps[0].result).toEqual({ exit_code: 0 });
  });

  it('a run step that reports neither an exit code nor an error is refused, and goes on; an agent step needs none', async () => {
    await submit('kinds', [step('one', 'x'), { id: 'two', uses: 'x', agent: { prompt: 'look' } }]);
    const claimed = (await n1.claim()).body;
    expect(await n1.report(claimed, {})).toMatchObject({
      status: 400,
      body: { code: 'invalid_request', errors: [{ pointer: '/exit_code' }] },
    });
    expect((await n1.report(claimed)).status).toBe(200);
    const second = await n1.claim();
    expect(second.body).toMatchObject({ kind: 'agent', agent: { prompt: 'look' }, seq: 2 });
    expect((await n1.report(second.body, {})).body.run_state).toBe('SUCCEEDED');
  });

  it.each([
    ['no lease header', {}, { exit_code: 0 }, undefined],
    ['an exit code that is no number', { 'mediator-lease': 'n' }, { exit_code: '0' }, '/exit_code'],
    ['an attempt below 1', { 'mediator-lease': 'n' }, { exit_code: 0, attempt: 0 }, '/attempt'],
    ['a node id that is none', { 'mediator-lease': 'n' }, { exit_code: 0, node_id: '!' }, '/node_id'],
  ])('%s is a 400', async (_what, headers, more, pointer) => {
    const body = { node_id: 'n1', attempt: 1, ...more };
    const answer = await server.send('POST', '/v1/runs/nulls/steps/1/result', { headers, body });
    expect(answer).toMatchObject({ status: 400, body: { code: 'invalid_request' } });
    expect(answer.body.errors?.[0].pointer).toBe(pointer);
  });

  it('unknown fields of a newer node are ignored', async () => {
    await submit('newer', [step('only', 'x')]);
    expect((await n1.work({ exit_code: 0, cpu_seconds: 3 })).status).toBe(200);
    expect((await get('newer')).steps[0].result).toEqual({ exit_code: 0 });
  });

  describe('C9 a late word of a former holder changes nothing anywhere', () => {
    it('the run was cancelled and its node belongs to the next run', async () => {
      await submit('former', [step('one', 'x'), step('two', 'x')]);
      const former = (await n1.claim()).body;
      await server.send('POST', '/v1/runs', { body: R('x', { run_id: 'next' }) });
      await server.send('POST', '/v1/runs/former/cancel');
      const next = (await n1.claim()).body;
      expect(next.run_id).toBe('next');

      const stored = await everything(server.database);
      const refused = { status: 409, body: { code: 'stale_lease' } };
      expect(await n1.report(former)).toMatchObject(refused);
      // Neither by the nonce it has now, nor for the step it has now by the nonce it had.
      expect(await n1.report({ ...former, lease: next.lease })).toMatchObject(refused);
      expect(await n1.report({ ...next, lease: former.lease })).toMatchObject(refused);
      expect(await everything(server.database)).toEqual(stored);
      expect((await n1.report(next)).body.run_state).toBe('SUCCEEDED');
    });

    it('the run goes on, and the report is of another attempt, another step or another node of it', async () => {
      const n2 = server.node('n2', [{ role: 'y' }]);
      await n2.advertise();
      const steps = [step('one', 'x'), step('two', 'x'), step('other', 'y', { needs: [] })];
      await submit('goes-on', steps, { requires: [needs('x'), needs('y')] });
      const [claimed, other] = [(await n1.claim()).body, (await n2.claim()).body];
      expect([claimed.seq, other.seq]).toEqual([1, 3]);

      const stored = await everything(server.database);
      const refused = { status: 409, body: { code: 'not_claimed' } };
      expect(await n1.report({ ...claimed, attempt: 2 })).toMatchObject(refused);
      expect(await n1.report({ ...claimed, seq: 2 })).toMatchObject(refused);
      expect(await n1.report({ ...claimed, seq: 3 })).toMatchObject(refused);
      expect(await n2.report({ ...claimed, lease: other.lease })).toMatchObject(refused);
      expect(await n2.report(claimed)).toMatchObject({ status: 409, body: { code: 'stale_lease' } });
      expect(await everything(server.database)).toEqual(stored);
      await server.send('POST', '/v1/runs/goes-on/cancel');
    });

    it('a claim by an old instance, at once and parked, while the new one is served', async () => {
      const n3 = server.node('n3', [{ role: 'z' }]);
      n3.instance = 'boot-1';
      await n3.advertise();
      const parked = n3.claim(30);
      n3.instance = 'boot-2';
      await n3.advertise();
      const stale = { status: 409, body: { code: 'stale_instance' } };
      expect(await parked).toMatchObject(stale);

      await server.send('POST', '/v1/runs', { body: R('z', { run_id: 'instances' }) });
      const stored = await everything(server.database);
      n3.instance = 'boot-1';
      expect(await n3.claim()).toMatchObject(stale);
      expect(await everything(server.database)).toEqual(stored);
      n3.instance = 'boot-2';
      expect((await n3.work()).body).toMatchObject({ run_id: 'instances', run_state: 'SUCCEEDED' });
    });
  });
});

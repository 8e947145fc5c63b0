import { afterAll, afterEach, beforeAll, describe, expect, it } from '@jest/globals';
import { answer, inbox, question } from '../../support/asks.js';
import { needs, step } from '../../support/contracts.js';
import { startTestMediator, type TestMediator } from '../../support/mediator.js';
import type { PlayedNode } from '../../support/played-node.js';
import { expectProblem } from '../../support/problem.js';
import { everything } from '../../support/stored.js';
import { upload, writeLog } from '../../support/uploads.js';

describe('whose output it is', () => {
  let server: TestMediator;
  let [n1, n2]: PlayedNode[] = [];
  beforeAll(async () => {
    server = await startTestMediator({ env: { MEDIATOR_MAX_BLOB_BYTES: '1000' } });
    [n1, n2] = [server.node('n1', [{ role: 'x' }]), server.node('n2', [{ role: 'y' }])];
    await n1.advertise();
    await n2.advertise();
  });
  afterEach(async () => {
    const running = await server.database.sql<{ run_id: string }>("SELECT run_id FROM runs WHERE state = 'RUNNING'");
    for (const { run_id } of running) await server.send('POST', `/v1/runs/${run_id}/cancel`);
    expect(await server.violations()).toEqual([]);
  });
  afterAll(() => server.close());

  const submit = async (run_id: string, steps: object[], more: object = {}): Promise<void> => {
    const body = { run_id, requires: [needs('x'), needs('y')], steps, ...more };
    expect((await server.send('POST', '/v1/runs', { body })).body).toMatchObject({ state: 'RUNNING' });
  };
  const download = (runId: string, name: string) => server.send('GET', `/v1/runs/${runId}/blobs/${name}`);
  /** As a server stored it before names were held apart. */
  const storeForeign = (runId: string, seq: number, name: string, text: string): Promise<unknown> =>
    server.database.sql(
      `WITH upload AS (
         INSERT INTO blobs (run_id, seq, attempt, name, media_type, published_at, size, sha256)
         VALUES ($1, $2, 1, $3, 'text/plain', clock_timestamp(), length($4::bytea), repeat('0', 64)) RETURNING upload_id)
       INSERT INTO blob_chunks SELECT upload_id, 0, $4::bytea FROM upload`,
      [runId, seq, name, Buffer.from(text)],
    );

  const build = step('build', 'x', { out: ['image'] });
  const other = step('other', 'y', { needs: [] });

  it('L11: an upload under a name that another step promises is 422, and the promised one is got and shown', async () => {
    const steps = [build, other, question('look', { show: ['image'] }), step('flash', 'x', { in: ['verdict'] })];
    await submit(
      'names',
      steps.map((one, index) => (index === 2 ? { ...one, needs: ['build', 'other'] } : one)),
    );
    const [one, two] = [(await n1!.claim()).body, (await n2!.claim()).body];
    const stored = await everything(server.database);
    for (const name of ['image', 'verdict']) {
      expectProblem(await upload(server, two, name, 'not theirs'), 422, 'not_promised');
    }
    expectProblem(await upload(server, one, 'verdict', '{"ok":true}'), 422, 'not_promised');
    expect(await everything(server.database)).toEqual(stored);
    expect((await upload(server, one, 'image', 'the image', { type: 'text/plain' })).status).toBe(204);
    expect((await upload(server, two, 'notes', 'nobody promises them')).status).toBe(204);
    await n1!.report(one);
    await n2!.report(two);
    expect((await inbox(server))[0].shown).toMatchObject([{ name: 'image', text: 'the image' }]);
    expect((await answer(server, 'names', 3, { ok: true })).status).toBe(200);
    expect((await n1!.claim()).body.in).toEqual(['verdict']);
    expect((await download('names', 'verdict')).body).toEqual({ ok: true });
  });

  it('L11: an upload or a log to an ask is 422, whether the question is open or not', async () => {
    await submit('asked', [build, question('look')]);
    const claim = (await n1!.claim()).body;
    const toAsk = { ...claim, seq: 2 };
    for (const name of ['verdict', 'anything']) {
      expectProblem(await upload(server, toAsk, name, '{"ok":true}'), 422, 'not_promised');
    }
    expectProblem(await writeLog(server, toAsk, 'line'), 422, 'not_promised');
    await upload(server, claim, 'image', 'x');
    await n1!.report(claim);
    expectProblem(await upload(server, toAsk, 'verdict', '{"ok":true}'), 422, 'not_promised');
    expect((await answer(server, 'asked', 2)).status).toBe(200);
  });

  it('two steps that promise one name may each upload it', async () => {
    await submit('both', [build, step('again', 'y', { out: ['image'] })]);
    const one = (await n1!.claim()).body;
    expect((await upload(server, one, 'image', 'first')).status).toBe(204);
    await n1!.report(one);
    const two = (await n2!.claim()).body;
    expect((await upload(server, two, 'image', 'second')).status).toBe(204);
    expect((await download('both', 'image')).body).toBe('second');
  });

  it('is judged after 404 and 410, and before 409 and 413', async () => {
    await submit('order', [build, other]);
    const two = (await n2!.claim()).body;
    const large = Buffer.alloc(1001);
    expectProblem(await upload(server, { ...two, seq: 9 }, 'image', large), 404, 'not_found');
    expectProblem(await upload(server, two, 'image', large, { lease: 'stale' }), 422, 'not_promised');
    expectProblem(await upload(server, two, 'image', large, { attempt: 7 }), 422, 'not_promised');
    expectProblem(await upload(server, two, 'own', large, { attempt: 7 }), 409, 'not_claimed');
    expectProblem(await upload(server, two, 'own', large), 413, 'too_large');
    await server.send('POST', '/v1/runs/order/cancel');
    expectProblem(await upload(server, two, 'image', large), 410, 'run_over');
  });

  it('L11: what a server of before has taken under the name of another step is neither got nor shown', async () => {
    await submit('before', [build, other, { ...question('look', { show: ['image'] }), needs: ['build'] }]);
    const [one, two] = [(await n1!.claim()).body, (await n2!.claim()).body];
    await storeForeign('before', 2, 'image', 'hostile');
    expect((await download('before', 'image')).status).toBe(404);
    await upload(server, one, 'image', 'the image', { type: 'text/plain' });
    await storeForeign('before', 3, 'image', 'hostile, too, and newer');
    await storeForeign('before', 2, 'free', 'of nobody');
    expect((await download('before', 'image')).body).toBe('the image');
    expect((await download('before', 'free')).body).toBe('of nobody');
    await n1!.report(one);
    expect((await inbox(server))[0].shown).toMatchObject([{ name: 'image', text: 'the image' }]);
    await answer(server, 'before', 3);
    expect((await n2!.report(two)).body).toMatchObject({ run_state: 'SUCCEEDED' });
  });

  it('a name in produced that only a server of before has taken fails the step, which says so', async () => {
    await submit('reported', [build, other]);
    const two = (await n2!.claim()).body;
    await storeForeign('reported', 2, 'image', 'hostile');
    const reported = await n2!.report(two, { exit_code: 0, produced: ['image', 'free'] });
    expect(reported.body).toMatchObject({ step_state: 'FAILED', run_state: 'FAILED' });
    const { verdict } = (await server.send('GET', '/v1/runs/reported')).body;
    expect(verdict.detail).toContain('not uploaded in this attempt: image, free');
  });
});

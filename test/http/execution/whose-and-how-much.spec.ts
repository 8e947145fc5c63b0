import { beforeAll, describe, expect, it } from '@jest/globals';
import { answer, inbox, question } from '../../support/asks.js';
import { needs, step } from '../../support/contracts.js';
import { eventually } from '../../support/eventually.js';
import type { PlayedClaim, PlayedNode } from '../../support/played-node.js';
import { expectProblem } from '../../support/problem.js';
import { cancelRunning } from '../../support/queue.js';
import { serverSuite } from '../../support/server-suite.js';
import { everything } from '../../support/stored.js';
import { blobPath, openUpload, upload, writeLog } from '../../support/uploads.js';

describe('whose output it is', () => {
  const server = serverSuite({ tidy: cancelRunning, env: { MEDIATOR_MAX_BLOB_BYTES: '1000' } });
  let [n1, n2]: PlayedNode[] = [];
  beforeAll(async () => {
    [n1, n2] = [server.node('n1', [{ role: 'x' }]), server.node('n2', [{ role: 'y' }])];
    await n1.advertise();
    await n2.advertise();
  });
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

const RUN_BYTES = 1_000_000;
const CHUNK = 256 * 1024;
const CUT = `\n[the log is cut here: its run stores at most ${RUN_BYTES} bytes]\n`;

describe('what a step may name, and a run may store', () => {
  const server = serverSuite({ tidy: cancelRunning, env: { MEDIATOR_MAX_RUN_BYTES: String(RUN_BYTES) } });
  const n1 = server.liveNode('n1', { role: 'x' });
  const loop = { back_to: 'only', max: 3, until: { exit_code: 0 } };
  const begin = async (runId: string, more: Record<string, unknown> = {}): Promise<PlayedClaim> => {
    const steps = [step('only', 'x', { allow_failure: true, loop, ...more })];
    const body = { run_id: runId, requires: [needs('x')], steps };
    expect((await server.send('POST', '/v1/runs', { body })).status).toBe(201);
    return (await n1.claim()).body;
  };
  const counted = async (runId: string): Promise<number> => {
    const [row] = await server.database.sql<{ bytes: string }>('SELECT bytes FROM run_bytes WHERE run_id = $1', [
      runId,
    ]);
    return Number(row?.bytes ?? 0);
  };

  it('L8: the 65th undeclared output name is refused, the rest stands, and a known one is taken in every attempt', async () => {
    const claim = await begin('names', { out: ['image'] });
    const names = Array.from({ length: 66 }, (_, index) => `out-${index}`);
    const answers = await Promise.all(names.map((name) => upload(server, claim, name, 'x')));
    const taken = names.filter((_, index) => answers[index]!.status === 204);
    expect(taken).toHaveLength(64);
    for (const one of answers.filter(({ status }) => status !== 204)) expectProblem(one, 413, 'too_large');
    expect((await upload(server, claim, 'image', 'promised')).status).toBe(204);
    expect((await upload(server, claim, taken[0]!, 'again')).status).toBe(204);
    await n1.report(claim, { exit_code: 1 });
    const second = (await n1.claim()).body;
    expect((await upload(server, second, taken[63]!, 'of the second attempt')).status).toBe(204);
    expectProblem(await upload(server, second, 'another', 'x'), 413, 'too_large');
    expect((await server.send('GET', `/v1/runs/names/blobs/${taken[1]}`)).body).toBe('x');
  });

  it('L8: a name whose upload came to nothing is free again', async () => {
    const claim = await begin('free-names');
    const open = openUpload(server.url + blobPath(claim, 'first'), { 'mediator-lease': claim.lease.nonce });
    open.send('x');
    await eventually(
      'it has begun',
      async () => (await server.database.sql('SELECT FROM blobs WHERE name = $1', ['first'])).length > 0,
    );
    for (let index = 1; index < 64; index++) await upload(server, claim, `out-${index}`, 'x');
    expectProblem(await upload(server, claim, 'second', 'x'), 413, 'too_large');
    open.breakOff();
    await eventually('it is taken', async () => (await upload(server, claim, 'second', 'x')).status === 204);
  });

  it('L8: the 65th log is refused, the rest stands, and a known one is taken in every attempt', async () => {
    const claim = await begin('logs');
    const names = Array.from({ length: 66 }, (_, index) => `log-${index}`);
    const answers = await Promise.all(names.map((name) => writeLog(server, claim, 'x', `name=${name}`)));
    const taken = names.filter((_, index) => answers[index]!.status === 204);
    expect(taken).toHaveLength(64);
    for (const one of answers.filter(({ status }) => status !== 204)) expectProblem(one, 413, 'too_large');
    expect((await writeLog(server, claim, 'y', `name=${taken[0]}`)).headers.get('upload-offset')).toBe('2');
    await n1.report(claim, { exit_code: 1 });
    const second = (await n1.claim()).body;
    expect((await writeLog(server, second, 'z', `name=${taken[63]}`)).status).toBe(204);
    expectProblem(await writeLog(server, second, 'z', 'name=another'), 413, 'too_large');
  });

  it('L8: a byte more than the run may store is refused, by what it promises and by what comes, and the rest stands', async () => {
    const claim = await begin('full');
    expect((await upload(server, claim, 'a', Buffer.alloc(600_000))).status).toBe(204);
    expect((await upload(server, claim, 'b', Buffer.alloc(400_000))).status).toBe(204);
    expectProblem(await upload(server, claim, 'c', 'x'), 413, 'too_large');
    const open = openUpload(server.url + blobPath(claim, 'c'), { 'mediator-lease': claim.lease.nonce });
    open.send('x');
    open.end();
    expect(await open.answer).toMatchObject({ status: 413, code: 'too_large' });
    expect((await upload(server, claim, 'c', '')).status).toBe(204);
    expect(await counted('full')).toBe(RUN_BYTES);
  });

  it('L8: what was replaced, broken off, refused or left over gives its bytes back', async () => {
    const claim = await begin('back', { out: ['json'], schema: { json: { type: 'object' } } });
    await upload(server, claim, 'a', Buffer.alloc(900_000));
    expectProblem(await upload(server, claim, 'a', Buffer.alloc(900_000)), 413, 'too_large');
    expect(await counted('back')).toBe(900_000);
    await upload(server, claim, 'a', Buffer.alloc(50_000));
    expect(await counted('back')).toBe(50_000);
    expectProblem(await upload(server, claim, 'json', `"${'x'.repeat(500_000)}"`), 422, 'schema_violation');
    expect(await counted('back')).toBe(50_000);
    for (const leftOver of [false, true]) {
      const open = openUpload(server.url + blobPath(claim, 'b'), { 'mediator-lease': claim.lease.nonce });
      open.send(Buffer.alloc(2 * CHUNK));
      await eventually('its chunks are counted', async () => (await counted('back')) === 50_000 + 2 * CHUNK);
      expect(await server.violations()).toEqual([]);
      const age = leftOver ? '61 minutes' : '1 minute';
      await server.database.sql('UPDATE blobs SET started_at = started_at - $1::interval WHERE published_at IS NULL', [
        age,
      ]);
      expect(await server.reap()).toMatchObject({ uploads: leftOver ? 1 : 0, errors: 0 });
      open.breakOff();
      await eventually('they are given back', async () => (await counted('back')) === 50_000);
    }
  });

  it('L8: ten at once do not pass the bound together, and as many stand as fit', async () => {
    const claim = await begin('ten');
    const seen = { most: 0, done: false };
    const watching = (async () => {
      while (!seen.done) seen.most = Math.max(seen.most, await counted('ten'));
    })();
    const opens = Array.from({ length: 10 }, (_, index) => {
      const open = openUpload(server.url + blobPath(claim, `out-${index}`), { 'mediator-lease': claim.lease.nonce });
      open.send(Buffer.alloc(CHUNK));
      open.send(Buffer.alloc(50_000));
      open.end();
      return open;
    });
    const statuses = (await Promise.all(opens.map((open) => open.answer))).map(({ status }) => status);
    seen.done = true;
    await watching;
    expect(seen.most).toBeLessThanOrEqual(RUN_BYTES);
    const fitting = statuses.filter((status) => status === 204).length;
    expect(statuses.filter((status) => status === 413)).toHaveLength(10 - fitting);
    expect(await counted('ten')).toBe(fitting * (CHUNK + 50_000));
    expect((await upload(server, claim, 'rest', Buffer.alloc(RUN_BYTES - (await counted('ten'))))).status).toBe(204);
  });

  it('L8: a log over the bytes of its run is cut with a line that says so, and still 204', async () => {
    const claim = await begin('cut');
    await upload(server, claim, 'a', Buffer.alloc(RUN_BYTES - 10));
    const size = 10 + CUT.length;
    const first = await writeLog(server, claim, 'twelve bytes');
    expect([first.status, first.headers.get('upload-offset')]).toEqual([204, String(size)]);
    expect((await writeLog(server, claim, 'more', 'offset=12')).headers.get('upload-offset')).toBe(String(size));
    expect((await server.send('GET', '/v1/runs/cut/steps/1/log')).body).toBe(`twelve byt${CUT}`);
    expect((await writeLog(server, claim, 'x', 'name=other')).status).toBe(204);
    expect((await server.send('GET', '/v1/runs/cut/steps/1/log?name=other')).body).toBe(CUT);
    expect(await counted('cut')).toBe(RUN_BYTES - 10 + 10 + 2 * CUT.length);
    expectProblem(await upload(server, claim, 'b', 'x'), 413, 'too_large');
  });

  it('L8: an answer is taken also where the run may store no more, and counts', async () => {
    const steps = [step('only', 'x'), question('look')];
    await server.send('POST', '/v1/runs', {
      body: { run_id: 'answered', requires: [needs('x')], steps: [...steps, step('last', 'x')] },
    });
    const claim = (await n1.claim()).body;
    await upload(server, claim, 'a', Buffer.alloc(RUN_BYTES));
    await n1.report(claim);
    expect((await answer(server, 'answered', 2, { ok: true })).status).toBe(200);
    expect(await counted('answered')).toBe(RUN_BYTES + '{"ok":true}'.length);
  });

  it('L8: what a run stored before it was counted is counted when it begins to be', async () => {
    const claim = await begin('before');
    await upload(server, claim, 'a', Buffer.alloc(600_000));
    await writeLog(server, claim, 'x'.repeat(1000));
    await server.database.sql("DELETE FROM run_bytes WHERE run_id = 'before'");
    await writeLog(server, claim, 'y');
    expect(await counted('before')).toBe(601_001);
    await server.database.sql("DELETE FROM run_bytes WHERE run_id = 'before'");
    expectProblem(await upload(server, claim, 'b', Buffer.alloc(399_000)), 413, 'too_large');
    expect((await upload(server, claim, 'b', Buffer.alloc(398_999))).status).toBe(204);
    expect(await counted('before')).toBe(RUN_BYTES);
  });

  it('256 uploads and logs of one caller at a time, and others as soon as one of them has ended', async () => {
    const claim = await begin('crowded', { out: ['image'] });
    const headers = { 'mediator-lease': claim.lease.nonce };
    const open = Array.from({ length: 256 }, () => openUpload(server.url + blobPath(claim, 'image'), headers));
    const begun = async (): Promise<number> =>
      (await server.database.sql("SELECT FROM blobs WHERE run_id = 'crowded' AND published_at IS NULL")).length;
    open.forEach((one) => {
      one.answer.catch(() => undefined);
      one.send('a piece');
    });
    await eventually('all are under way', async () => (await begun()) === 256);
    const refused = await upload(server, claim, 'image', 'whole');
    expectProblem(refused, 429, 'rate_limited');
    expect(refused.headers.get('retry-after')).toBe('1');
    expectProblem(await writeLog(server, claim, 'said'), 429, 'rate_limited');
    open.forEach((one) => one.breakOff());
    await eventually('none is under way', async () => (await begun()) === 0);
    expect((await upload(server, claim, 'image', 'whole')).status).toBe(204);
    expect((await writeLog(server, claim, 'said')).status).toBe(204);
  });
});

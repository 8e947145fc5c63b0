import { afterAll, afterEach, beforeAll, describe, expect, it } from '@jest/globals';
import { needs, step } from '../../support/contracts.js';
import { answer, question } from '../../support/asks.js';
import { eventually } from '../../support/eventually.js';
import { startTestMediator, type TestMediator } from '../../support/mediator.js';
import type { PlayedClaim, PlayedNode } from '../../support/played-node.js';
import { expectProblem } from '../../support/problem.js';
import { blobPath, openUpload, upload, writeLog } from '../../support/uploads.js';

const RUN_BYTES = 1_000_000;
const CHUNK = 256 * 1024;
const CUT = `\n[the log is cut here: its run stores at most ${RUN_BYTES} bytes]\n`;

describe('what a step may name, and a run may store', () => {
  let server: TestMediator;
  let n1: PlayedNode;
  beforeAll(async () => {
    server = await startTestMediator({ env: { MEDIATOR_MAX_RUN_BYTES: String(RUN_BYTES) } });
    n1 = server.node('n1', [{ role: 'x' }]);
    await n1.advertise();
  });
  afterEach(async () => {
    // While it runs: the count of a run that is over is nobody's concern.
    expect(await server.violations()).toEqual([]);
    const running = await server.database.sql<{ run_id: string }>("SELECT run_id FROM runs WHERE state = 'RUNNING'");
    for (const { run_id } of running) await server.send('POST', `/v1/runs/${run_id}/cancel`);
    expect(await server.violations()).toEqual([]);
  });
  afterAll(() => server.close());

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

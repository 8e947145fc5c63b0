import { describe, expect, it } from '@jest/globals';
import { FollowLog } from '../../../src/bodies/follow-log.js';
import { type BytesAnswer, bytesOf, get } from '../../support/bytes.js';
import { needs, R, step } from '../../support/contracts.js';
import { eventually } from '../../support/eventually.js';
import { FOR_LOGS, park } from '../../support/parked.js';
import type { PlayedClaim, PlayedNode } from '../../support/played-node.js';
import { writeLog } from '../../support/uploads.js';
import { serverSuite } from '../../support/server-suite.js';

describe('reading a log', () => {
  const server = serverSuite();
  const other = serverSuite({ beside: server, env: { MEDIATOR_DB_POOL_SIZE: '2' } });
  let made = 0;
  const path = (runId: string, query = '', seq: number | string = 1): string =>
    `/v1/runs/${runId}/steps/${seq}/log?${query}`;
  const read = (runId: string, query = '', headers: Record<string, string> = {}): Promise<BytesAnswer> =>
    get(server.url + path(runId, query), headers);
  const followers = (): number => other.mediator.app.get(FollowLog).size;

  const write = async (claim: PlayedClaim, text: string, query = ''): Promise<void> => {
    expect(await writeLog(server, claim, text, query)).toMatchObject({ status: 204 });
  };

  /** A run of its own whose first step is claimed. */
  const begin = async (
    more: Record<string, unknown> = {},
  ): Promise<{ run: string; node: PlayedNode; claim: PlayedClaim }> => {
    const run = `log${++made}`;
    const node = server.node(run, [{ role: run }]);
    await node.advertise();
    const contract = { run_id: run, requires: [needs(run)], steps: [step('one', run, more), step('two', run)] };
    expect((await server.send('POST', '/v1/runs', { body: contract })).status).toBe(201);
    return { run, node, claim: (await node.claim()).body };
  };
  const follow = (run: string, from: number, wait = 30, query = '', signal?: AbortSignal): Promise<BytesAnswer> =>
    get(other.url + path(run, query), { range: `bytes=${from}-`, prefer: `wait=${wait}` }, { signal });
  /** Follows on the other server; when it gives the answer to come, that server has looked and waits. */
  const parked = (run: string, from: number, query = ''): Promise<{ answer: Promise<BytesAnswer> }> =>
    park(server.database, () => follow(run, from, 30, query), FOR_LOGS);
  const shown = ({ status, bytes }: BytesAnswer): [number, string] => [status, bytes.toString()];

  it('gives what is there so far, and parts of it', async () => {
    const { run, claim } = await begin();
    expect((await read(run)).status).toBe(404);
    await write(claim, 'one\n');
    await write(claim, 'zwölf\n');

    const answer = await read(run);
    expect(shown(answer)).toEqual([200, 'one\nzwölf\n']);
    expect(Object.fromEntries(answer.headers)).toMatchObject({
      'content-type': 'text/plain; charset=utf-8',
      'content-length': '11',
      'accept-ranges': 'bytes',
      'x-content-type-options': 'nosniff',
      'mediator-attempt': '1',
    });
    expect(shown(await read(run, '', { range: 'bytes=4-' }))).toEqual([206, 'zwölf\n']);
    expect(shown(await read(run, '', { range: 'bytes=-7' }))).toEqual([206, 'zwölf\n']);
    const end = await read(run, '', { range: 'bytes=11-' });
    expect([end.status, end.headers.get('content-range')]).toEqual([416, 'bytes */11']);
    const head = await get(server.url + path(run), {}, { method: 'HEAD' });
    expect([head.status, head.headers.get('content-length'), head.bytes.length]).toEqual([200, '11', 0]);
  });

  it('keeps logs apart by name and by attempt; what is in no attempt is 404', async () => {
    const { run, node, claim } = await begin({ loop: { back_to: 'one', max: 3, until: { exit_code: 0 } } });
    await write(claim, 'first try');
    await write(claim, 'traced', 'name=trace');
    expect((await node.report(claim, { exit_code: 1 })).body.rolled_back).toBe(true);
    expect((await read(run)).status).toBe(404);
    const again = (await node.claim()).body;
    await write(again, 'second try');

    expect(shown(await read(run))).toEqual([200, 'second try']);
    expect((await read(run)).headers.get('mediator-attempt')).toBe('2');
    expect(shown(await read(run, 'attempt=1'))).toEqual([200, 'first try']);
    expect(shown(await read(run, 'attempt=1&name=trace'))).toEqual([200, 'traced']);
    for (const query of ['name=trace', 'attempt=3', 'name=Step']) expect((await read(run, query)).status).toBe(404);
    for (const seq of [2, 3, 0, 'one', '01', 99_999_999_999]) {
      const { status, body } = await server.send('GET', path(run, '', seq));
      expect([seq, status, body.code]).toEqual([seq, 404, 'not_found']);
    }
    expect((await server.send('GET', path('nowhere'))).body.code).toBe('not_found');
    for (const query of ['attempt=0', 'attempt=x', 'attempt=1.5', 'attempt=99999999999', 'name=a&name=b']) {
      expect([query, (await server.send('GET', path(run, query))).body.code]).toEqual([query, 'invalid_request']);
    }
  });

  it('gives a log of many small appends, and any part of it', async () => {
    const { run } = await begin();
    const text = bytesOf(600_000);
    await server.database.sql("INSERT INTO logs VALUES ($1, 1, 1, 'step', 600000)", [run]);
    await server.database.sql(
      `INSERT INTO log_chunks SELECT $1, 1, 1, 'step', at, substring($2::bytea FROM at + 1 FOR 60)
         FROM generate_series(0, 599999, 60) at`,
      [run, text],
    );
    expect((await read(run)).bytes.equals(text)).toBe(true);
    const part = await read(run, '', { range: 'bytes=59-300001' });
    expect(part.bytes.equals(text.subarray(59, 300_002))).toBe(true);
  });

  it('who follows it on another server is given more within 100 ms, as it comes', async () => {
    const { run, claim } = await begin();
    await write(claim, 'one\n');
    expect(shown(await follow(run, 0))).toEqual([206, 'one\n']);
    const waits: number[] = [];
    for (let size = 4; size < 24; size += 4) {
      const { answer } = await parked(run, size);
      const wrote = write(claim, 'more').then(() => performance.now());
      const [given, at, now] = await Promise.all([answer, wrote, answer.then(() => performance.now())]);
      expect(shown(given)).toEqual([206, 'more']);
      expect(given.headers.get('content-range')).toBe(`bytes ${size}-${size + 3}/${size + 4}`);
      expect(given.headers.get('preference-applied')).toBe('wait=30');
      waits.push(now - at);
    }
    expect(Math.min(...waits)).toBeLessThan(100);
    expect(Math.max(...waits)).toBeLessThan(2000);
  });

  it('the first bytes are waited for, too', async () => {
    const { run, claim } = await begin();
    const { answer } = await parked(run, 0);
    await write(claim, 'hello');
    expect(shown(await answer)).toEqual([206, 'hello']);
  });

  it('a log of the same run that is not followed, and a run beside it, wake nobody for nothing', async () => {
    const { run, claim } = await begin();
    const beside = await begin();
    await write(claim, 'one\n');
    const { answer } = await parked(run, 4);
    await write(claim, 'x', 'name=trace');
    await write(beside.claim, 'y');
    await beside.node.report(beside.claim);
    expect(followers()).toBe(1);
    await write(claim, 'z');
    expect(shown(await answer)).toEqual([206, 'z']);
  });

  it('its time is over: 204', async () => {
    const { run, claim } = await begin();
    await write(claim, 'one\n');
    for (const [from, size] of [
      [4, 'wait=0'],
      [4, 'wait=1'],
    ] as const) {
      const { status, headers, bytes } = await get(other.url + path(run), { range: `bytes=${from}-`, prefer: size });
      expect([status, headers.get('preference-applied'), bytes.length]).toEqual([204, size, 0]);
    }
    const { run: silent } = await begin();
    expect((await follow(silent, 0, 0)).status).toBe(204);
    expect(followers()).toBe(0);
  });

  it('is answered at once where no more is wanted: another range, or one that lies beyond', async () => {
    const { run, claim } = await begin();
    await write(claim, 'one\n');
    const prefer = 'wait=60';
    expect((await read(run, '', { prefer, range: 'bytes=4-5' })).status).toBe(416);
    expect((await read(run, '', { prefer, range: 'bytes=5-' })).status).toBe(416);
    expect(shown(await read(run, '', { prefer }))).toEqual([200, 'one\n']);
    expect((await read(run, '', { prefer })).headers.get('preference-applied')).toBeNull();
    expect((await read(run, 'name=none', { prefer, range: 'bytes=1-' })).status).toBe(404);
  });

  describe('is answered at once where the log can get no more', () => {
    const loop = { loop: { back_to: 'one', max: 3, until: { exit_code: 0 } } };
    type Begun = Awaited<ReturnType<typeof begin>>;
    const endings: [string, Record<string, unknown>, (begun: Begun) => Promise<unknown>][] = [
      ['its step is done', {}, ({ node, claim }) => node.report(claim)],
      ['its step failed', {}, ({ node, claim }) => node.report(claim, { error: 'on fire' })],
      ['its attempt is rolled back', loop, ({ node, claim }) => node.report(claim, { exit_code: 1 })],
      ['its run is cancelled', {}, ({ run }) => server.send('POST', `/v1/runs/${run}/cancel`)],
    ];
    it.each(endings)('%s', async (_what, more, end) => {
      const begun = await begin(more);
      await write(begun.claim, 'one\n');
      const { answer } = await parked(begun.run, 4);
      const { answer: unwritten } = await parked(begun.run, 0, 'name=trace');
      await end(begun);
      expect([(await answer).status, (await answer).headers.get('content-range')]).toEqual([416, 'bytes */4']);
      expect((await unwritten).status).toBe(404);
      // And from then on: who names the attempt need not wait to learn that they have it all.
      expect((await follow(begun.run, 4, 60, 'attempt=1')).status).toBe(416);
      expect(shown(await follow(begun.run, 0, 60, 'attempt=1'))).toEqual([206, 'one\n']);
    });

    it('it was cut at its limit', async () => {
      const { run, claim } = await begin();
      await write(claim, 'one\n');
      await server.database.sql('UPDATE logs SET cut = true WHERE run_id = $1', [run]);
      expect((await follow(run, 4, 60)).status).toBe(416);
    });

    it('a person is asked, or the attempt is still to come', async () => {
      const { run } = await begin();
      expect((await follow(run, 0, 60, 'attempt=2')).status).toBe(404);
    });
  });

  it('a step that has not begun, of a run that still waits, is waited for', async () => {
    const { run, node, claim } = await begin();
    const next = R(run, { run_id: `${run}-next` });
    expect((await server.send('POST', '/v1/runs', { body: next })).status).toBe(202);
    const { answer } = await parked(`${run}-next`, 0);
    await node.report(claim);
    await node.work();
    await write((await node.claim()).body, 'at last');
    expect(shown(await answer)).toEqual([206, 'at last']);
  });

  it('ten who wait hold no connection of two, and one who goes away is forgotten', async () => {
    const { run, claim } = await begin();
    await write(claim, 'one\n');
    const client = new AbortController();
    const gone = follow(run, 4, 60, '', client.signal);
    const answers = Array.from({ length: 10 }, () => follow(run, 4, 60));
    await eventually('all wait', () => followers() === 11);
    const others = await Promise.all(Array.from({ length: 10 }, () => other.send('GET', `/v1/runs/${run}`)));
    expect(others.map(({ status }) => status)).toEqual(others.map(() => 200));

    client.abort();
    await expect(gone).rejects.toThrow('aborted');
    await eventually('it is forgotten', () => followers() === 10);
    await write(claim, 'two\n');
    expect((await Promise.all(answers)).map(shown)).toEqual(answers.map(() => [206, 'two\n']));
  });

  it('a server that stops answers them at once: 204', async () => {
    const { run, claim } = await begin();
    await write(claim, 'one\n');
    const { answer } = await parked(run, 4);
    await other.stop();
    expect((await answer).status).toBe(204);
  });
});

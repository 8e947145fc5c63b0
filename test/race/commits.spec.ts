import { raw } from '../support/raw-statement.js';
import { afterAll, afterEach, beforeAll, describe, expect, it, jest } from '@jest/globals';
import { Database } from '../../src/platform/database/database.js';
import { DatabaseUnavailable, isContention } from '../../src/platform/sessions/faults.js';
import { retryPause } from '../../src/platform/database/retry-pause.js';
import { atFailpoints } from '../../src/platform/failpoints.js';
import { R } from '../support/contracts.js';
import { type LossyLink, openLossyLink } from '../support/lossy-link.js';
import type { PlayedNode } from '../support/played-node.js';
import { once } from '../support/failpoints.js';
import { cancel, countWakes, promotion, show, states, submit, submitAll } from '../support/queue.js';
import { serverSuite } from '../support/server-suite.js';

const CODES = ['40P01', '40001', '55P03'];

describe('a transaction that meets another', () => {
  const server = serverSuite();
  let database: Database;
  beforeAll(async () => {
    database = server.mediator.app.get(Database);
    await server.database.sql('CREATE TABLE words (word text)');
  });
  afterEach(async () => {
    await server.database.sql('TRUNCATE words');
  });

  /** Says a word, and fails in this way as often; gives when it was begun each time. */
  async function failing(code: string, times: number, options: { retry?: boolean } = {}): Promise<number[]> {
    const begun: number[] = [];
    await database.transaction(
      `fails-${code}`,
      async (tx) => {
        begun.push(performance.now());
        await tx.ask(raw("INSERT INTO words VALUES ('said')"));
        if (begun.length > times) return;
        await tx.ask(raw(`DO $$ BEGIN RAISE EXCEPTION 'forced' USING ERRCODE = '${code}'; END $$`));
      },
      options,
    );
    return begun;
  }
  const retries = (code: string): Promise<number> =>
    server.figure(`mediator_transaction_retries_total{transaction="fails-${code}"}`);
  const said = (): Promise<object[]> => server.database.sql('SELECT word FROM words');

  it.each(CODES)('%s: runs the whole of it again, and counts that', async (code) => {
    const before = await retries(code);
    expect(await failing(code, 2)).toHaveLength(3);
    // What the first two had written is undone.
    expect(await said()).toEqual([{ word: 'said' }]);
    expect((await retries(code)) - before).toBe(2);
  });

  it.each(CODES)('%s: succeeds at the sixth attempt, and is given up after it', async (code) => {
    jest.spyOn(Math, 'random').mockReturnValue(0);
    const before = await retries(code);
    expect(await failing(code, 5)).toHaveLength(6);
    expect((await retries(code)) - before).toBe(5);
    await expect(failing(code, 6)).rejects.toBeInstanceOf(DatabaseUnavailable);
    expect((await retries(code)) - before).toBe(10);
    expect(await said()).toEqual([{ word: 'said' }]);
  });

  it('pauses before each further attempt, for longer each time', async () => {
    jest.spyOn(Math, 'random').mockReturnValue(0.9);
    const begun = await failing('40001', 3);
    const pauses = begun.slice(1).map((at, index) => at - begun[index]!);
    // A timer may be a millisecond early.
    pauses.forEach((pause, index) => expect(pause).toBeGreaterThan(retryPause(index + 1) - 2));
  });

  it('is told at once where it wants no retry', async () => {
    const fault: unknown = await failing('40P01', 1, { retry: false }).catch((error: unknown) => error);
    expect(isContention(fault)).toBe(true);
    expect(await said()).toEqual([]);
  });

  it('is told at once of any other fault', async () => {
    await expect(failing('23514', 1)).rejects.toMatchObject({ code: '23514' });
    expect(await retries('23514')).toBe(0);
  });

  it('two that wait for each other: one is tried again by itself, and both are done', async () => {
    await server.database.sql("INSERT INTO words VALUES ('a'), ('b')");
    let [begun, meet] = [0, (): void => undefined];
    const both = new Promise<void>((resolve) => (meet = resolve));
    const inOrder = (first: string, second: string): Promise<void> =>
      database.transaction('circle', async (tx) => {
        await tx.ask(raw('SELECT FROM words WHERE word = $1 FOR UPDATE', [first]));
        if (++begun === 2) meet();
        await both;
        await tx.ask(raw('SELECT FROM words WHERE word = $1 FOR UPDATE', [second]));
      });
    await Promise.all([inOrder('a', 'b'), inOrder('b', 'a')]);
    expect(begun).toBe(3);
    expect(await server.figure('mediator_transaction_retries_total{transaction="circle"}')).toBe(1);
  });

  it('a request whose contention does not end is a 503, and nothing happened', async () => {
    await server.node('N1', [{ role: 'x' }]).advertise();
    expect(await submitAll(server, R('x', { run_id: 'busy' }))).toEqual([201]);
    let tried = 0;
    atFailpoints((name) => {
      if (name !== 'cancel.before-commit') return;
      tried += 1;
      throw Object.assign(new Error('deadlock detected'), { code: '40P01' });
    });
    expect((await cancel(server, 'busy')).status).toBe(503);
    expect(tried).toBe(6);
    expect(await server.figure('mediator_transaction_retries_total{transaction="cancel"}')).toBe(5);
    atFailpoints(undefined);
    expect((await show(server, 'busy')).state).toBe('RUNNING');
    expect((await cancel(server, 'busy')).status).toBe(200);
  });

  it('a promotion is never tried again: it is a collision, and the sweep reads everything anew', async () => {
    await server.node('N2', [{ role: 'y' }]).advertise();
    expect(await submitAll(server, R('y', { run_id: 'y-a' }), R('y', { run_id: 'y-b' }))).toEqual([201, 202]);
    const passed: string[] = [];
    atFailpoints((name) => {
      if (name !== 'sweep.read' && name !== 'promote.before-grant') return;
      passed.push(name);
      if (passed.length === 2) throw Object.assign(new Error('deadlock detected'), { code: '40P01' });
    });
    expect((await cancel(server, 'y-a')).status).toBe(200);
    expect(passed).toEqual(['sweep.read', 'promote.before-grant', 'sweep.read', 'promote.before-grant']);
    expect(await promotion(server, 'y-b')).toMatchObject({ state: 'RUNNING', holds: ['N2'] });
    expect(await server.figure('mediator_transaction_retries_total{transaction="promote"}')).toBe(0);
  });
});

describe('a COMMIT that gets no answer', () => {
  let link: LossyLink;
  const server = serverSuite({ over: async (database) => (link = await openLossyLink(database)) });
  afterAll(() => link.close());

  const UNAVAILABLE = { status: 503, body: { code: 'unavailable' } };

  /** One node; `<role>-a` holds it, `<role>-b` waits. */
  async function line(role: string): Promise<PlayedNode> {
    const node = server.node(`${role}-N1`, [{ role }]);
    await node.advertise();
    expect(await submitAll(server, R(role, { run_id: `${role}-a` }), R(role, { run_id: `${role}-b` }))).toEqual([
      201, 202,
    ]);
    return node;
  }

  /** The first pass sweeps since it is owed, and the second does not. */
  async function expectMadeUpFor(runId: string, counted: Awaited<ReturnType<typeof countWakes>>): Promise<void> {
    expect(await counted()).toEqual({ wakes: {}, sweeps: {} });
    expect((await promotion(server, runId)).state).toBe('QUEUED');
    await server.reap();
    await server.reap();
    expect(await counted()).toEqual({ wakes: { owed: 1 }, sweeps: { clean: 1 } });
    expect(await promotion(server, runId)).toMatchObject({ state: 'RUNNING', whys: ['owed'] });
  }

  it('of a report that happened: 503, and the next pass promotes', async () => {
    const n1 = await line('report');
    const { body: claim } = await n1.claim();
    const counted = await countWakes(server);
    once('report.before-commit', () => link.loseNextCommit());
    const answer = await n1.report(claim);
    expect(answer).toMatchObject(UNAVAILABLE);
    expect(answer.headers.get('retry-after')).toMatch(/^\d+$/);
    expect(await states(server, 'report-a')).toEqual(['SUCCEEDED']);
    await expectMadeUpFor('report-b', counted);
    // The node asks again and learns that it was heard.
    expect(await n1.report(claim)).toMatchObject({ status: 409, body: { code: 'stale_lease' } });
    expect(await show(server, 'report-a')).toMatchObject({ state: 'SUCCEEDED', record: { state: 'SEALED' } });
  });

  it('of a cancel that happened: 503, and the next pass promotes', async () => {
    await line('cancel');
    const counted = await countWakes(server);
    once('cancel.before-commit', () => link.loseNextCommit());
    expect(await cancel(server, 'cancel-a')).toMatchObject(UNAVAILABLE);
    expect(await states(server, 'cancel-a')).toEqual(['CANCELLED']);
    await expectMadeUpFor('cancel-b', counted);
    expect(await cancel(server, 'cancel-a')).toMatchObject({ status: 200, body: { state: 'CANCELLED' } });
  });

  it('of an advert that happened: 503, and the next pass promotes', async () => {
    await line('advert');
    const counted = await countWakes(server);
    once('advert.before-commit', () => link.loseNextCommit());
    const n2 = server.node('advert-N2', [{ role: 'advert' }]);
    expect(await n2.advertise()).toMatchObject(UNAVAILABLE);
    await expectMadeUpFor('advert-b', counted);
    expect((await n2.advertise()).body.leases).toMatchObject([{ run_id: 'advert-b' }]);
  });

  it('of a queued row that is there: 503, and the next pass looks at what was freed meanwhile', async () => {
    const n1 = server.node('queued-N1', [{ role: 'queued' }]);
    await n1.advertise();
    expect((await submit(server, R('queued', { run_id: 'queued-a' }))).status).toBe(201);
    once('submit.matched', async () => {
      expect((await cancel(server, 'queued-a')).status).toBe(200);
      once('enqueue.before-commit', () => link.loseNextCommit());
    });
    expect(await submit(server, R('queued', { run_id: 'queued-b' }))).toMatchObject(UNAVAILABLE);
    await expectMadeUpFor('queued-b', await countWakes(server));
    expect(await submit(server, R('queued', { run_id: 'queued-b' }))).toMatchObject({
      status: 200,
      body: { state: 'RUNNING' },
    });
  });

  it('of a promotion that happened: the request that woke answers 200, the run has its node, the next is looked at again', async () => {
    await line('promote');
    const counted = await countWakes(server);
    once('promote.before-commit', () => link.loseNextCommit());
    expect(await cancel(server, 'promote-a')).toMatchObject({ status: 200 });
    expect(await promotion(server, 'promote-b')).toEqual({ state: 'RUNNING', whys: ['cancel'], holds: ['promote-N1'] });
    expect(await counted()).toEqual({ wakes: { cancel: 1 }, sweeps: { failed: 1 } });
    await server.reap();
    await server.reap();
    expect(await counted()).toEqual({ wakes: { cancel: 1, owed: 1 }, sweeps: { failed: 1, clean: 1 } });
  });

  it('of an expiry that happened: the pass wakes as if it had released', async () => {
    await line('expire');
    expect((await server.node('expire-N1', []).claim()).status).toBe(200);
    await server.database.sql(
      "UPDATE leases SET not_after = clock_timestamp() - interval '1 s' WHERE run_id = 'expire-a'",
    );
    const counted = await countWakes(server);
    once('expire.before-commit', () => link.loseNextCommit());
    expect(await server.reap()).toMatchObject({ expired: 0, errors: 1 });
    expect(await show(server, 'expire-a')).toMatchObject({ state: 'FAILED', verdict: { reason: 'lease_expired' } });
    expect(await promotion(server, 'expire-b')).toEqual({ state: 'RUNNING', whys: ['reaper'], holds: ['expire-N1'] });
    expect(await counted()).toEqual({ wakes: { reaper: 1 }, sweeps: { clean: 1 } });
  });

  it('while a sweep is under way that looked before: that sweep does not make up for it', async () => {
    const n1 = await line('during');
    expect((await submit(server, R('during', { run_id: 'during-c' }))).status).toBe(202);
    const { body: claim } = await n1.claim();
    let arrive: () => void = () => undefined;
    let letGo: () => void = () => undefined;
    const reached = new Promise<void>((resolve) => (arrive = resolve));
    const released = new Promise<void>((resolve) => (letGo = resolve));
    atFailpoints(async (name) => {
      if (name === 'report.before-commit') link.loseNextCommit();
      if (name !== 'sweep.read') return;
      arrive();
      await released;
    });
    const sweeping = cancel(server, 'during-c');
    await reached;
    expect(await n1.report(claim)).toMatchObject(UNAVAILABLE);
    letGo();
    expect((await sweeping).status).toBe(200);
    expect(await states(server, 'during-a', 'during-b')).toEqual(['SUCCEEDED', 'QUEUED']);
    await expectMadeUpFor('during-b', await countWakes(server));
  });

  it('since the connection was ended before: nothing happened, the sweep is owed all the same, the node reports again', async () => {
    const n1 = await line('killed');
    const { body: claim } = await n1.claim();
    const counted = await countWakes(server);
    once('report.before-commit', async () => {
      const ended = await server.database.sql(
        `SELECT pg_terminate_backend(pid, 5000) AS ended FROM pg_stat_activity
          WHERE datname = current_database() AND application_name = 'mediator' AND xact_start IS NOT NULL`,
      );
      expect(ended).toEqual([{ ended: true }]);
    });
    expect(await n1.report(claim)).toMatchObject(UNAVAILABLE);
    expect(await promotion(server, 'killed-a')).toMatchObject({ state: 'RUNNING', holds: ['killed-N1'] });
    await server.reap();
    await server.reap();
    expect(await counted()).toEqual({ wakes: { owed: 1 }, sweeps: { clean: 1 } });
    expect(await n1.report(claim)).toMatchObject({ status: 200, body: { run_state: 'SUCCEEDED' } });
    expect(await promotion(server, 'killed-b')).toEqual({ state: 'RUNNING', whys: ['result'], holds: ['killed-N1'] });
  });
});

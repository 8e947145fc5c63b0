import { describe, expect, it } from '@jest/globals';
import type { Notice } from '../../src/asks/notices.sql.js';
import { putBack } from '../../src/asks/take-notices.js';
import { Database } from '../../src/platform/database/database.js';
import { ServerPresence } from '../../src/reaper/servers/server-presence.js';
import { answer, asksOf, inbox, question } from '../support/asks.js';
import { barrier } from '../support/barrier.js';
import { needs, R, step } from '../support/contracts.js';
import { eventually } from '../support/eventually.js';
import { letTimePass } from '../support/let-time-pass.js';
import { blockedOn, blockedOrAnswered } from '../support/parked.js';
import { hold } from '../support/failpoints.js';
import { cancel, countWakes, promotion, show, states, submit, submitAll } from '../support/queue.js';
import { serverSuite } from '../support/server-suite.js';
import { openSession } from '../support/session.js';

describe('an answer against', () => {
  const server = serverSuite();
  const other = serverSuite({ beside: server });
  /** A run on a node of its own with these steps, and one behind it that waits for the node. */
  const start = async (name: string, ...steps: object[]): Promise<void> => {
    await server.node(`${name}-n`, [{ role: name }]).advertise();
    const first = { run_id: `${name}-a`, requires: [needs(name)], steps };
    expect(await submitAll(server, first, R(name, { run_id: `${name}-b` }))).toEqual([201, 202]);
  };
  const uploads = (runId: string): Promise<object[]> =>
    server.database.sql('SELECT name FROM blobs WHERE run_id = $1', [runId]);

  it.each([
    ['judged', 'answer.judged', 2],
    ['locked', 'answer.locked', 1],
  ])('another, both %s: one is taken, the other a 409, and the first stands', async (what, point, count) => {
    const name = `two-${what}`;
    await start(name, question('look'));
    let second: ReturnType<typeof answer> | undefined;
    // Where the first holds the lock, the second has to wait for it.
    barrier(point, count, async () => {
      if (count === 2) return;
      second = answer(other, `${name}-a`, 1, { ok: false }, 'bob');
      await blockedOn(server.database, 'records.lock-run');
    });
    const first = answer(server, `${name}-a`, 1, { ok: true }, 'ann');
    if (count === 2) second = answer(other, `${name}-a`, 1, { ok: false }, 'bob');
    const answers = [await first, await second!];

    expect(answers.map(({ status }) => status).sort()).toEqual([200, 409]);
    expect(answers.find(({ status }) => status === 409)!.body.code).toBe('not_asked');
    const winner = answers[0]!.status === 200 ? 'ann' : 'bob';
    expect(await asksOf(server, `${name}-a`)).toMatchObject([
      { state: 'ANSWERED', answer: { ok: winner === 'ann' }, answered_by: winner },
    ]);
    expect(await uploads(`${name}-a`)).toHaveLength(1);
    expect((await show(server, `${name}-a`)).verdict.by).toEqual({ kind: 'person', name: winner });
    expect(await promotion(server, `${name}-b`)).toMatchObject({ state: 'RUNNING', whys: ['answer'] });
  });

  it('a cancel that comes second: it reports the end that the answer has made', async () => {
    await start('ac', question('look'));
    const answering = hold('answer.locked');
    const answered = answer(server, 'ac-a', 1);
    await answering.reached;
    const cancelled = cancel(other, 'ac-a');
    await blockedOn(server.database, 'records.lock-run');
    answering.letGo();
    expect((await answered).body).toMatchObject({ step_state: 'DONE', run_state: 'SUCCEEDED' });
    expect(await cancelled).toMatchObject({ status: 200, body: { state: 'SUCCEEDED' } });
    expect(await promotion(server, 'ac-b')).toMatchObject({ state: 'RUNNING' });
  });

  it('a cancel that comes first: the answer is a 409 and leaves nothing', async () => {
    await start('ca', question('look'));
    const cancelling = hold('cancel.before-commit');
    const cancelled = cancel(other, 'ca-a');
    await cancelling.reached;
    const answered = answer(server, 'ca-a', 1);
    await blockedOn(server.database, 'records.lock-run');
    cancelling.letGo();
    expect((await cancelled).body.state).toBe('CANCELLED');
    expect(await answered).toMatchObject({ status: 409, body: { code: 'not_asked' } });
    expect(await asksOf(server, 'ca-a')).toMatchObject([{ state: 'CANCELLED', answer: null }]);
    expect(await uploads('ca-a')).toEqual([]);
    expect(await promotion(server, 'ca-b')).toMatchObject({ state: 'RUNNING' });
  });

  describe('the end of its time', () => {
    const passDeadline = (runId: string): Promise<unknown> =>
      server.database.sql("UPDATE asks SET deadline = clock_timestamp() - interval '1 s' WHERE run_id = $1", [runId]);

    it('the answer comes first: the reaper finds it answered', async () => {
      await start('ae', question('look', { timeout_seconds: 60 }));
      await passDeadline('ae-a');
      const answering = hold('answer.locked');
      const answered = answer(server, 'ae-a', 1);
      await answering.reached;
      const reaped = other.reap();
      await blockedOn(server.database, 'records.lock-run');
      answering.letGo();
      expect((await answered).body.run_state).toBe('SUCCEEDED');
      expect(await reaped).toMatchObject({ asks: 0, errors: 0 });
      expect(await promotion(server, 'ae-b')).toMatchObject({ state: 'RUNNING', whys: ['answer'] });
    });

    const timed = { timeout_seconds: 60, default: { ok: false } };

    it('of a question with a default, the answer comes first: it stands', async () => {
      await start('ad', question('look', timed));
      await passDeadline('ad-a');
      const answering = hold('answer.locked');
      const answered = answer(server, 'ad-a', 1);
      await answering.reached;
      const reaped = other.reap();
      await blockedOn(server.database, 'records.lock-run');
      answering.letGo();
      expect((await answered).body.run_state).toBe('SUCCEEDED');
      expect(await reaped).toMatchObject({ asks: 0, errors: 0 });
      expect(await asksOf(server, 'ad-a')).toMatchObject([{ answer: { ok: true }, answered_by: 'ann' }]);
    });

    it('of a question with a default, the reaper comes first: the answer is a 409 and leaves nothing', async () => {
      await start('da', question('look', timed));
      await passDeadline('da-a');
      const expiring = hold('expire-ask.before-commit');
      const reaped = other.reap();
      await expiring.reached;
      const answered = answer(server, 'da-a', 1);
      await blockedOn(server.database, 'records.lock-run');
      expiring.letGo();
      expect(await reaped).toMatchObject({ asks: 1, errors: 0 });
      expect(await answered).toMatchObject({ status: 409, body: { code: 'not_asked' } });
      expect(await asksOf(server, 'da-a')).toMatchObject([{ answer: { ok: false }, answered_by: 'default' }]);
      expect(await uploads('da-a')).toHaveLength(1);
      expect(await promotion(server, 'da-b')).toMatchObject({ state: 'RUNNING', whys: ['reaper'] });
    });

    it('the reaper comes first: the answer is a 409', async () => {
      await start('ea', question('look', { timeout_seconds: 60 }));
      await passDeadline('ea-a');
      const expiring = hold('expire-ask.before-commit');
      const reaped = other.reap();
      await expiring.reached;
      const answered = answer(server, 'ea-a', 1);
      await blockedOn(server.database, 'records.lock-run');
      expiring.letGo();
      expect(await reaped).toMatchObject({ asks: 1, errors: 0 });
      expect(await answered).toMatchObject({ status: 409, body: { code: 'not_asked' } });
      expect(await show(server, 'ea-a')).toMatchObject({ state: 'FAILED', verdict: { reason: 'ask_expired' } });
      expect(await promotion(server, 'ea-b')).toMatchObject({ state: 'RUNNING', whys: ['reaper'] });
    });
  });

  it('a loop that asks again: an answer to the question before is a 409, and the new one stays open', async () => {
    const loop = { back_to: 'look', max: 3, until: { exit_code: 0 } };
    const node = server.node('loop-n', [{ role: 'loop' }]);
    await node.advertise();
    const steps = [question('look'), step('try', 'loop', { needs: [], allow_failure: true, loop })];
    expect((await submit(server, { run_id: 'loop', requires: [needs('loop')], steps })).status).toBe(201);
    const judging = hold('answer.judged');
    const answered = answer(server, 'loop', 1);
    await judging.reached;
    expect((await node.work({ exit_code: 1 })).body).toMatchObject({ rolled_back: true });
    judging.letGo();
    expect(await answered).toMatchObject({ status: 409, body: { code: 'not_asked' } });
    expect(await asksOf(server, 'loop')).toMatchObject([
      { attempt: 1, state: 'CANCELLED' },
      { attempt: 2, state: 'OPEN' },
    ]);
    expect(await inbox(server)).toMatchObject([{ run_id: 'loop' }]);
    expect((await answer(server, 'loop', 1)).body.run_state).toBe('RUNNING');
    expect((await node.work()).body.run_state).toBe('SUCCEEDED');
  });

  it('its notice being put back: that waits for the answer, and there is nobody to be told any more', async () => {
    await start('told', question('look'));
    const answering = hold('answer.before-commit');
    const answered = answer(server, 'told-a', 1);
    await answering.reached;
    let isBack = false;
    const back = putBack(other.mediator.app.get(Database), { run_id: 'told-a', seq: 1, attempt: 1 } as Notice);
    void back.then(() => (isBack = true));
    await blockedOrAnswered(server.database, back);
    expect(isBack).toBe(false);
    answering.letGo();
    expect((await answered).status).toBe(200);
    await back;
    expect(await server.database.sql("SELECT FROM ask_notices WHERE run_id = 'told-a'")).toEqual([]);
  });
});

/** Half of it is when an advert counts as about to lapse. */
const RENEW_SECONDS = 3600;
/** So long what is waited for goes on to be in time: long enough to begin to wait, shorter than a lock is waited for. */
const SOON = 0.8;

describe('who waits for a row judges by the clock behind the wait', () => {
  const server = serverSuite();
  /** Somebody else locks a row, and changes nothing of it, until this is true for the database. */
  const lockUntil = async (lock: string, passed: string, act: () => Promise<void>): Promise<void> => {
    const other = await openSession(server.database);
    try {
      await other.sql('BEGIN');
      await other.sql(lock);
      await act();
      await eventually(passed, async () => (await server.database.sql(`SELECT WHERE ${passed}`)).length === 1);
    } finally {
      await other.sql('ROLLBACK');
      await other.close();
    }
  };

  it('an advert that waits until the one before is about to lapse wakes the queue', async () => {
    const node = server.node('lapsing', [{ role: 'lapsing' }]);
    await node.advertise();
    const counted = await countWakes(server);
    await server.database.sql(
      "UPDATE nodes SET expires_at = clock_timestamp() + make_interval(secs => $1) WHERE node_id = 'lapsing'",
      [RENEW_SECONDS / 2 + SOON],
    );
    let answer: ReturnType<typeof node.advertise> | undefined;
    await lockUntil(
      "SELECT FROM nodes WHERE node_id = 'lapsing' FOR NO KEY UPDATE",
      `EXISTS (SELECT FROM nodes WHERE node_id = 'lapsing'
                  AND expires_at < clock_timestamp() + interval '${RENEW_SECONDS / 2} s')`,
      async () => {
        answer = node.advertise();
        await blockedOn(server.database, 'nodes.lock-advert');
      },
    );
    expect((await answer!).status).toBe(200);
    expect(await counted()).toEqual({ wakes: { 'node-joined': 1 }, sweeps: { clean: 1 } });
  });

  it('a plain heartbeat that waits wakes nobody', async () => {
    const node = server.node('plain', [{ role: 'plain' }]);
    await node.advertise();
    const counted = await countWakes(server);
    let answer: ReturnType<typeof node.advertise> | undefined;
    await lockUntil("SELECT FROM nodes WHERE node_id = 'plain' FOR NO KEY UPDATE", 'true', async () => {
      answer = node.advertise();
      await blockedOn(server.database, 'nodes.lock-advert');
    });
    expect((await answer!).status).toBe(200);
    expect(await counted()).toEqual({ wakes: {}, sweeps: {} });
  });

  const expiresSoon = (nodeId: string): Promise<unknown> =>
    server.database.sql(
      'UPDATE nodes SET expires_at = clock_timestamp() + make_interval(secs => $2) WHERE node_id = $1',
      [nodeId, SOON],
    );
  const expired = (nodeId: string): string =>
    `EXISTS (SELECT FROM nodes WHERE node_id = '${nodeId}' AND expires_at < clock_timestamp())`;

  it('a submission that waits for its node until that is live no more is queued', async () => {
    await server.node('gone', [{ role: 'gone' }]).advertise();
    await expiresSoon('gone');
    let answers: Promise<number[]> | undefined;
    await lockUntil("SELECT FROM nodes WHERE node_id = 'gone' FOR NO KEY UPDATE", expired('gone'), async () => {
      answers = submitAll(server, R('gone', { run_id: 'gone' }));
      await blockedOn(server.database, 'leases.grant-new-run');
    });
    expect(await answers).toEqual([202]);
    expect(await promotion(server, 'gone')).toMatchObject({ state: 'QUEUED', holds: [] });
  });

  it('a promotion that waits for its node until that is live no more leaves its run in the queue', async () => {
    const node = server.node('late', [{ role: 'late' }]);
    await node.advertise();
    expect(await submitAll(server, R('late', { run_id: 'late-a' }), R('late', { run_id: 'late-b' }))).toEqual([
      201, 202,
    ]);
    const claim = (await node.claim()).body;
    const granting = hold('promote.before-grant');
    const reported = node.report(claim);
    await granting.reached;
    await expiresSoon('late');
    await lockUntil("SELECT FROM nodes WHERE node_id = 'late' FOR NO KEY UPDATE", expired('late'), async () => {
      granting.letGo();
      await blockedOn(server.database, 'queue.promote');
    });
    expect((await reported).status).toBe(200);
    expect(await promotion(server, 'late-b')).toMatchObject({ state: 'QUEUED', holds: [] });
  });

  it('a lease that is given time after an outage has all of it from behind the wait for its row', async () => {
    const node = server.node('kept', [{ role: 'kept' }]);
    await node.advertise();
    expect(await submitAll(server, R('kept', { run_id: 'kept' }))).toEqual([201]);
    await letTimePass(server.database, 30_000);
    const [before] = await server.database.sql<{ at: string }>('SELECT clock_timestamp()::text AS at');
    let touched: Promise<void> | undefined;
    await lockUntil(
      "SELECT FROM leases WHERE run_id = 'kept' FOR NO KEY UPDATE",
      `clock_timestamp() > '${before!.at}'::timestamptz + interval '${SOON} s'`,
      async () => {
        touched = server.mediator.app.get(ServerPresence).touch();
        await blockedOn(server.database, '/* leases.');
      },
    );
    await touched;
    const [given] = await server.database.sql<{ whole: boolean }>(
      `SELECT not_after >= $1::timestamptz + make_interval(secs => $2) AS whole FROM leases WHERE run_id = 'kept'`,
      [before!.at, 3 * RENEW_SECONDS + SOON],
    );
    expect(given).toEqual({ whole: true });
    expect(await states(server, 'kept')).toEqual(['RUNNING']);
  });
});

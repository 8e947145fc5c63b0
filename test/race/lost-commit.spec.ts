import { afterAll, afterEach, beforeAll, describe, expect, it } from '@jest/globals';
import { atFailpoints } from '../../src/platform/failpoints.js';
import { R } from '../support/contracts.js';
import { createDatabase } from '../support/database.js';
import { type LossyLink, openLossyLink } from '../support/lossy-link.js';
import { startTestMediator, type TestMediator } from '../support/mediator.js';
import type { PlayedNode } from '../support/played-node.js';
import { once } from '../support/points.js';
import { cancel, countWakes, promotion, show, states, submit, submitAll } from '../support/queue.js';

describe('a COMMIT that gets no answer', () => {
  let link: LossyLink;
  let server: TestMediator;
  beforeAll(async () => {
    link = await openLossyLink(await createDatabase());
    server = await startTestMediator({ database: link.database });
  });
  afterEach(async () => {
    atFailpoints(undefined);
    expect(await server.violations()).toEqual([]);
  });
  afterAll(async () => {
    await server.close();
    link.close();
    await link.database.drop();
  });

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

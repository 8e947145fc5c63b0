import { afterAll, afterEach, beforeAll, describe, expect, it } from '@jest/globals';
import { ServerPresence } from '../../src/reaper/servers/server-presence.js';
import { atFailpoints } from '../../src/platform/failpoints.js';
import { R } from '../support/contracts.js';
import { eventually } from '../support/eventually.js';
import { letTimePass } from '../support/let-time-pass.js';
import { startTestMediator, type TestMediator } from '../support/mediator.js';
import { blockedOn } from '../support/parked.js';
import { hold } from '../support/points.js';
import { countWakes, promotion, states, submitAll } from '../support/queue.js';
import { openSession } from '../support/session.js';

/** Half of it is when an advert counts as about to lapse. */
const RENEW_SECONDS = 3600;
/** So long what is waited for goes on to be in time: long enough to begin to wait, shorter than a lock is waited for. */
const SOON = 0.8;

describe('who waits for a row judges by the clock behind the wait', () => {
  let server: TestMediator;
  beforeAll(async () => {
    server = await startTestMediator();
  });
  afterEach(async () => {
    atFailpoints(undefined);
    expect(await server.violations()).toEqual([]);
  });
  afterAll(() => server.close());

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

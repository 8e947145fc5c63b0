import { setImmediate as turn } from 'node:timers/promises';
import { afterAll, afterEach, beforeAll, describe, expect, it } from '@jest/globals';
import { atFailpoints } from '../../src/platform/failpoints.js';
import { within } from '../../src/platform/within.js';
import { R } from '../support/contracts.js';
import { eventually } from '../support/eventually.js';
import { startTestMediator, type TestMediator } from '../support/mediator.js';
import { carriedOut } from '../support/parked.js';
import { hold } from '../support/points.js';
import { cancel, promotion, show, submitAll } from '../support/queue.js';

describe('the cancel of a waiting run against the release that would promote it', () => {
  let server: TestMediator;
  let other: TestMediator;
  beforeAll(async () => {
    server = await startTestMediator();
    other = await startTestMediator({ database: server.database });
  });
  afterEach(async () => {
    atFailpoints(undefined);
    expect(await server.violations()).toEqual([]);
  });
  afterAll(async () => {
    await other.close();
    await server.close();
  });

  it('B16 200 times: the run is over without a lease, and the next in line has the node', async () => {
    await server.node('N1', [{ role: 'x' }]).advertise();
    let holder = 'a0';
    expect(await submitAll(server, R('x', { run_id: holder }))).toEqual([201]);
    for (let round = 1; round <= 200; round++) {
      const [b, c] = [`b${round}`, `c${round}`];
      expect(await submitAll(server, R('x', { run_id: b }), R('x', { run_id: c }))).toEqual([202, 202]);
      const release = cancel(server, holder);
      // Every round meets another moment of the release; every second one comes from another process.
      for (let turns = 0; turns < round % 40; turns++) await turn();
      const answers = await within(20, Promise.all([release, cancel(round % 2 === 0 ? server : other, b)]));

      expect(answers.map(({ status, body }) => [status, body.state])).toEqual([
        [200, 'CANCELLED'],
        [200, 'CANCELLED'],
      ]);
      expect(
        await server.database.sql(
          `SELECT run_id, state, node_id FROM runs LEFT JOIN leases USING (run_id)
            WHERE run_id IN ($1, $2) OR node_id = 'N1' ORDER BY run_id`,
          [b, c],
        ),
      ).toEqual([
        { run_id: b, state: 'CANCELLED', node_id: null },
        { run_id: c, state: 'RUNNING', node_id: 'N1' },
      ]);
      holder = c;
    }
    expect(await server.database.sql('SELECT run_id FROM leases')).toEqual([{ run_id: 'c200' }]);
    expect(await server.figure('mediator_sweeps_total{result="failed"}')).toBe(0);
    expect(await server.figure('mediator_sweeps_total{result="incomplete"}')).toBe(0);
    // Two hundred rounds are slow on a machine that is busy; one that hangs is told by its own limit.
  }, 180_000);

  it('the cancel meets the promotion before its commit: it waits, ends the run with its lease, and the next has the node', async () => {
    await server.node('N2', [{ role: 'y' }]).advertise();
    expect(await submitAll(server, ...['ya', 'yb', 'yc'].map((run_id) => R('y', { run_id })))).toEqual([201, 202, 202]);
    const promoting = hold('promote.before-commit');
    const release = cancel(server, 'ya');
    await promoting.reached;
    await carriedOut(server.database, 'queue.promote');
    const cancelled = cancel(other, 'yb');
    await eventually('the cancel waits for the run', async () => {
      const [waiting] = await server.database.sql(
        "SELECT 1 FROM pg_stat_activity WHERE datname = current_database() AND wait_event_type = 'Lock' AND query LIKE '%records.lock-run%'",
      );
      return waiting !== undefined;
    });
    promoting.letGo();
    const answers = await Promise.all([release, cancelled]);
    expect(answers.map(({ status }) => status)).toEqual([200, 200]);
    expect(await show(server, 'yb')).toMatchObject({ state: 'CANCELLED', started_at: expect.any(String) });
    expect(await promotion(server, 'yb')).toMatchObject({ holds: [] });
    expect(await server.database.sql("SELECT node_id, why FROM grants WHERE run_id = 'yb'")).toEqual([
      { node_id: 'N2', why: 'cancelled' },
    ]);
    expect(await promotion(server, 'yc')).toEqual({ state: 'RUNNING', whys: ['cancel'], holds: ['N2'] });
  });
});

import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { readConfig } from '../../../src/platform/config/read-config.js';
import { atFailpoints } from '../../../src/platform/failpoints.js';
import { startMediator } from '../../../src/start-mediator.js';
import { R } from '../../support/contracts.js';
import { createDatabase, type TestDatabase } from '../../support/database.js';
import { eventually } from '../../support/eventually.js';
import { sender, type Send } from '../../support/http.js';
import { startTestMediator } from '../../support/mediator.js';
import { cancel, countWakes, promotion, states, submitAll } from '../../support/queue.js';
import { once } from '../../support/points.js';

describe('the start with a queue that waits beside a free node', () => {
  let database: TestDatabase;

  /** a held N1 and is over; b and c wait, and the server went away before it had swept. */
  beforeEach(async () => {
    database = await createDatabase();
    const server = await startTestMediator({ database });
    await server.node('N1', [{ role: 'x' }]).advertise();
    const runs = ['a', 'b', 'c'].map((run_id) => R('x', { run_id }));
    expect(await submitAll(server, ...runs)).toEqual([201, 202, 202]);
    once('sweep.begin', () => {
      throw new Error('the process dies here');
    });
    expect((await cancel(server, 'a')).status).toBe(200);
    expect(await states(server, 'a', 'b', 'c')).toEqual(['CANCELLED', 'QUEUED', 'QUEUED']);
    await server.stop();
  });
  afterEach(async () => {
    atFailpoints(undefined);
    try {
      expect(await database.sql('SELECT * FROM invariants')).toEqual([]);
    } finally {
      await database.drop();
    }
  });

  it('B10 startup: no request under /v1 gets another answer than 503 before the queue was swept', async () => {
    let send: Send | undefined;
    const asked = new Map<string, number[]>();
    const stateOfB = async () => (await database.sql("SELECT state FROM runs WHERE run_id = 'b'"))[0]!.state;
    const asks = [
      ['GET', '/v1/runs/b'],
      ['GET', '/v1/queue'],
      ['POST', '/v1/nodes', { node_id: 'N1', capabilities: [] }],
      ['POST', '/v1/runs', R('x', { run_id: 'd' })],
      ['POST', '/v1/runs/b/cancel'],
      ['GET', '/readyz'],
    ] as const;
    const states = new Map<string, unknown>();
    atFailpoints(async (name) => {
      if (!['sweep.begin', 'sweep.read', 'promote.before-commit', 'promote.committed'].includes(name)) return;
      states.set(name, await stateOfB());
      const answers = await Promise.all(asks.map(([method, path, body]) => send!(method, path, { body })));
      asked.set(
        name,
        answers.map(({ status }) => status),
      );
    });
    const config = readConfig({
      DATABASE_URL: database.url,
      PORT: '0',
      LOG_LEVEL: 'silent',
      MEDIATOR_RENEW_SECONDS: '3600',
      MEDIATOR_LEASE_TTL_SECONDS: '10800',
    });
    const mediator = await startMediator(config, (url) => (send = sender(url)));
    atFailpoints(undefined);
    try {
      const refused = [503, 503, 503, 503, 503, 503];
      expect([...asked]).toEqual([
        ['sweep.begin', refused],
        ['sweep.read', refused],
        ['promote.before-commit', refused],
        ['promote.committed', refused],
      ]);
      expect([...states.values()]).toEqual(['QUEUED', 'QUEUED', 'QUEUED', 'RUNNING']);
      expect(await send!('GET', '/v1/runs/b')).toMatchObject({ status: 200, body: { state: 'RUNNING' } });
      expect(await send!('GET', '/v1/runs/c')).toMatchObject({ status: 200, body: { state: 'QUEUED' } });
      expect((await send!('GET', '/v1/runs/d')).status).toBe(404);
      expect((await send!('GET', '/readyz')).status).toBe(200);
      expect(await database.sql("SELECT promoted_whys FROM runs WHERE run_id = 'b'")).toEqual([
        { promoted_whys: ['startup'] },
      ]);
      expect((await send!('GET', '/metrics')).body).toContain('mediator_wakes_total{why="startup"} 1\n');
    } finally {
      await mediator.stop();
    }
  });

  it('a promotion that fails by itself at start is made up for by the pass after the first, which comes at once', async () => {
    const seen = { tried: 0, passes: 0 };
    let failing = true;
    atFailpoints((name) => {
      if (name === 'forget-changes.committed') seen.passes += 1;
      if (name !== 'promote.before-grant' || !failing) return;
      seen.tried += 1;
      throw new Error('what it needs is not there yet');
    });
    const server = await startTestMediator({ database });
    try {
      const triedAtStart = seen.tried;
      expect(triedAtStart).toBeGreaterThan(0);
      await eventually('the first pass is over', () => seen.passes === 1);
      expect(seen.tried).toBe(triedAtStart);
      failing = false;
      await server.reap();
      expect(await promotion(server, 'b')).toEqual({ state: 'RUNNING', whys: ['owed'], holds: ['N1'] });
    } finally {
      await server.stop();
    }
  });

  it('B10 the start-up sweep fails: the server serves all the same, and its first pass makes up for it', async () => {
    let sweeps = 0;
    let letGo: () => void = () => undefined;
    const held = new Promise<void>((resolve) => (letGo = resolve));
    atFailpoints(async (name) => {
      if (name !== 'sweep.begin') return;
      if (++sweeps === 1) throw new Error('the sweep fails');
      await held;
    });
    const server = await startTestMediator({ database });
    try {
      expect((await server.send('GET', '/readyz')).status).toBe(200);
      expect((await server.send('GET', '/v1/queue')).body).toMatchObject({ depth: 2 });
      expect(await states(server, 'b', 'c')).toEqual(['QUEUED', 'QUEUED']);
      expect(await server.figure('mediator_sweeps_total{result="failed"}')).toBe(1);
      letGo();
      await eventually('b runs', async () => (await states(server, 'b'))[0] === 'RUNNING');
      expect(await promotion(server, 'b')).toEqual({ state: 'RUNNING', whys: ['owed'], holds: ['N1'] });
      expect(await promotion(server, 'c')).toEqual({ state: 'QUEUED', whys: null, holds: [] });
      // Made up for: the next pass has nothing to do.
      const counted = await countWakes(server);
      await server.reap();
      expect(await counted()).toEqual({ wakes: {}, sweeps: {} });
    } finally {
      letGo();
      await server.stop();
    }
  });
});

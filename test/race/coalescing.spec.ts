import { afterAll, afterEach, beforeAll, describe, expect, it } from '@jest/globals';
import { atFailpoints } from '../../src/platform/failpoints.js';
import { R } from '../support/contracts.js';
import { eventually } from '../support/eventually.js';
import { startTestMediator, type TestMediator } from '../support/mediator.js';
import { hold } from '../support/points.js';
import { cancel, countWakes, promotion, states, submitAll } from '../support/queue.js';

describe('wakes that come during a sweep', () => {
  let server: TestMediator;
  beforeAll(async () => {
    // Fewer connections than callers that wait: whoever waits for a sweep holds none.
    server = await startTestMediator({ env: { MEDIATOR_DB_POOL_SIZE: '2' } });
  });
  afterEach(async () => {
    atFailpoints(undefined);
    expect(await server.violations()).toEqual([]);
  });
  afterAll(() => server.close());

  const woken = (runs: number): Promise<boolean> =>
    eventually(`${runs} wakes`, async () => (await server.figure('mediator_wakes_total{why="cancel"}')) === runs);

  it('are served by one further sweep, which begins after the commits of all of them', async () => {
    await server.node('N1', [{ role: 'x' }]).advertise();
    await server.node('N2', [{ role: 'y' }]).advertise();
    const waiting = ['w1', 'w2', 'w3', 'w4', 'w5', 'w6'];
    const runs = [R('x', { run_id: 'a' }), R('y', { run_id: 'b' }), R('y', { run_id: 'c' })];
    expect(
      await submitAll(server, ...runs, ...waiting.map((run_id) => R('x', { run_id })), R('x', { run_id: 'd' })),
    ).toEqual([201, 201, 202, 202, 202, 202, 202, 202, 202, 202]);
    const counted = await countWakes(server);
    const sweeping = hold('sweep.read');
    const done: string[] = [];
    const cancelling = (runId: string): Promise<void> => cancel(server, runId).then(() => void done.push(runId));

    const first = cancelling('w1');
    await sweeping.reached;
    // This sweep has read that both nodes are busy: it can promote nobody.
    const others = [...waiting.slice(1), 'a', 'b'].map(cancelling);
    await woken(8);
    expect(await states(server, ...waiting, 'a', 'b', 'c', 'd')).toEqual([
      ...Array<string>(8).fill('CANCELLED'),
      'QUEUED',
      'QUEUED',
    ]);
    // All of them are committed, and no caller is answered before a sweep that began after its commit.
    expect(done).toEqual([]);
    expect((await server.send('GET', '/readyz')).status).toBe(200);

    sweeping.letGo();
    await first;
    await Promise.all(others);
    expect(await promotion(server, 'c')).toEqual({ state: 'RUNNING', whys: ['cancel'], holds: ['N2'] });
    expect(await promotion(server, 'd')).toEqual({ state: 'RUNNING', whys: ['cancel'], holds: ['N1'] });
    expect(await counted()).toEqual({ wakes: { cancel: 8 }, sweeps: { clean: 2 } });
  });

  it('are told to the run that they promote, all of them', async () => {
    const n3 = server.node('N3', [{ role: 'z' }]);
    await n3.advertise();
    expect(await submitAll(server, ...['za', 'zb', 'zc', 'zd'].map((run_id) => R('z', { run_id })))).toEqual([
      201, 202, 202, 202,
    ]);
    const counted = await countWakes(server);
    const sweeping = hold('sweep.read');
    const first = cancel(server, 'zb');
    await sweeping.reached;
    const before = await server.figure('mediator_wakes_total{why="cancel"}');
    const others = [n3.work(), cancel(server, 'zc'), server.node('N4', [{ role: 'other' }]).advertise()];
    await woken(before + 1);
    await eventually('the others have woken', async () => {
      const { wakes } = await counted();
      return wakes.result === 1 && wakes['node-joined'] === 1;
    });
    sweeping.letGo();
    await first;
    await Promise.all(others);
    const { state, whys, holds } = await promotion(server, 'zd');
    expect({ state, holds }).toEqual({ state: 'RUNNING', holds: ['N3'] });
    expect(new Set(whys)).toEqual(new Set(['result', 'cancel', 'node-joined']));
    expect(await counted()).toEqual({ wakes: { cancel: 2, result: 1, 'node-joined': 1 }, sweeps: { clean: 2 } });
  });

  it('a sweep that fails fails none of those who wait for it, nor the next', async () => {
    await server.node('N5', [{ role: 'f' }]).advertise();
    expect(await submitAll(server, ...['fa', 'fb', 'fc'].map((run_id) => R('f', { run_id })))).toEqual([201, 202, 202]);
    const counted = await countWakes(server);
    let sweeps = 0;
    let arrive: () => void = () => undefined;
    let letGo: () => void = () => undefined;
    const reached = new Promise<void>((resolve) => (arrive = resolve));
    const released = new Promise<void>((resolve) => (letGo = resolve));
    atFailpoints(async (name) => {
      if (name !== 'sweep.begin' || ++sweeps > 1) return;
      arrive();
      await released;
      throw new Error('this sweep fails');
    });
    const first = cancel(server, 'fa');
    await reached;
    const before = await server.figure('mediator_wakes_total{why="cancel"}');
    const second = cancel(server, 'fb');
    await woken(before + 1);
    letGo();
    expect([(await first).status, (await second).status]).toEqual([200, 200]);
    expect(await promotion(server, 'fc')).toEqual({ state: 'RUNNING', whys: ['cancel'], holds: ['N5'] });
    expect(await counted()).toEqual({ wakes: { cancel: 2 }, sweeps: { failed: 1, clean: 1 } });
    // The clean sweep has made up for the failed one.
    await server.reap();
    expect(await counted()).toEqual({ wakes: { cancel: 2 }, sweeps: { failed: 1, clean: 1 } });
  });
});

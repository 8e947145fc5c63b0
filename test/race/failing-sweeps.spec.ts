import { afterEach, describe, expect, it } from '@jest/globals';
import { atFailpoints } from '../../src/platform/failpoints.js';
import { R } from '../support/contracts.js';
import { eventually } from '../support/eventually.js';
import type { PlayedNode } from '../support/played-node.js';
import { hold, once } from '../support/failpoints.js';
import { cancel, countWakes, promotion, show, states, submitAll } from '../support/queue.js';
import { serverSuite } from '../support/server-suite.js';

describe('sweeps and promotions that fail', () => {
  const server = serverSuite();
  afterEach(async () => {
    // Nothing is left over for the next test.
    await server.reap();
    await server.reap();
  });
  const fail = (): never => {
    throw new Error('forced');
  };
  const NOTHING = { wakes: {}, sweeps: {} };

  /** One node; `<role>-a` holds it, the others wait in this order. */
  async function line(role: string, ...waiting: string[]): Promise<PlayedNode> {
    const node = server.node(`${role}-N1`, [{ role }]);
    await node.advertise();
    const runs = ['a', ...waiting].map((name) => R(role, { run_id: `${role}-${name}` }));
    expect(await submitAll(server, ...runs)).toEqual([201, ...waiting.map(() => 202)]);
    return node;
  }

  it('B17 the first promotion throws: the second run is promoted, and the request that woke answers 200', async () => {
    const n1 = await line('b17', 'b', 'c');
    const counted = await countWakes(server);
    once('promote.before-grant', fail);
    expect(await n1.work()).toMatchObject({ status: 200, body: { run_state: 'SUCCEEDED' } });
    expect(await promotion(server, 'b17-b')).toEqual({ state: 'QUEUED', whys: null, holds: [] });
    expect(await promotion(server, 'b17-c')).toEqual({ state: 'RUNNING', whys: ['result'], holds: ['b17-N1'] });
    expect(await show(server, 'b17-b')).toMatchObject({ assigned: [], steps: [{ state: 'PENDING', node_id: null }] });
    expect(await counted()).toEqual({ wakes: { result: 1 }, sweeps: { incomplete: 1 } });
    // It is owed a look: the next pass has one, and b finds the node taken.
    await server.reap();
    await server.reap();
    expect(await counted()).toEqual({ wakes: { result: 1, owed: 1 }, sweeps: { incomplete: 1, clean: 1 } });
  });

  it.each(['promote.before-grant', 'promote.before-commit'])(
    'a promotion that fails by itself at %s leaves nothing behind, and is made up for once, not for ever',
    async (where) => {
      const role = where.replace(/[.:]/g, '-');
      await line(role, 'b');
      const counted = await countWakes(server);
      let tried = 0;
      atFailpoints((name) => {
        if (name !== where) return;
        tried += 1;
        fail();
      });
      expect((await cancel(server, `${role}-a`)).status).toBe(200);
      for (let pass = 0; pass < 4; pass++) await server.reap();
      expect(tried).toBe(2);
      expect(await counted()).toEqual({ wakes: { cancel: 1, owed: 1 }, sweeps: { incomplete: 2 } });
      expect(await promotion(server, `${role}-b`)).toEqual({ state: 'QUEUED', whys: null, holds: [] });
      expect(await server.violations()).toEqual([]);
      // The next event has it run.
      atFailpoints(undefined);
      await server.node(`${role}-N2`, [{ role: 'unrelated' }]).advertise();
      expect(await promotion(server, `${role}-b`)).toEqual({
        state: 'RUNNING',
        whys: ['node-joined'],
        holds: [`${role}-N1`],
      });
    },
  );

  it('a promotion that fails while a pass is under way is made up for by the next pass, not by this one', async () => {
    await line('under-way', 'b');
    const counted = await countWakes(server);
    let tried = 0;
    atFailpoints(async (name) => {
      if (name === 'touch.committed' && tried === 0) await cancel(server, 'under-way-a');
      if (name !== 'promote.before-grant') return;
      tried += 1;
      fail();
    });
    await server.reap();
    expect(tried).toBe(1);
    expect(await counted()).toEqual({ wakes: { cancel: 1 }, sweeps: { incomplete: 1 } });
    atFailpoints(undefined);
    await server.reap();
    expect((await promotion(server, 'under-way-b')).whys).toEqual(['owed']);
  });

  it('B23 the sweep fails during a cancel: 200, and the next event promotes', async () => {
    await line('b23', 'b', 'c');
    const counted = await countWakes(server);
    once('sweep.begin', fail);
    expect(await cancel(server, 'b23-a')).toMatchObject({ status: 200, body: { state: 'CANCELLED' } });
    expect(await states(server, 'b23-b', 'b23-c')).toEqual(['QUEUED', 'QUEUED']);
    expect(await counted()).toEqual({ wakes: { cancel: 1 }, sweeps: { failed: 1 } });
    expect((await cancel(server, 'b23-c')).status).toBe(200);
    expect(await promotion(server, 'b23-b')).toEqual({ state: 'RUNNING', whys: ['cancel'], holds: ['b23-N1'] });
    // A later sweep that ended clean has cleared what was owed.
    await server.reap();
    expect(await counted()).toEqual({ wakes: { cancel: 2 }, sweeps: { failed: 1, clean: 1 } });
  });

  it.each(['sweep.begin', 'sweep.read'])(
    'B27 owed: the sweep fails at %s and no event follows: the next pass makes up for it, once',
    async (where) => {
      const role = where.replace(/[.:]/g, '-');
      const n1 = await line(role, 'b');
      const counted = await countWakes(server);
      once(where, fail);
      expect((await n1.work()).status).toBe(200);
      expect((await promotion(server, `${role}-b`)).state).toBe('QUEUED');
      await server.reap();
      expect(await promotion(server, `${role}-b`)).toEqual({ state: 'RUNNING', whys: ['owed'], holds: [`${role}-N1`] });
      await server.reap();
      expect(await counted()).toEqual({ wakes: { result: 1, owed: 1 }, sweeps: { failed: 1, clean: 1 } });
    },
  );

  it('a sweep that is owed and fails again stays owed', async () => {
    await line('still', 'b');
    const counted = await countWakes(server);
    let failing = true;
    atFailpoints((name) => {
      if (name === 'sweep.begin' && failing) fail();
    });
    await cancel(server, 'still-a');
    await server.reap();
    await server.reap();
    expect(await counted()).toEqual({ wakes: { cancel: 1, owed: 2 }, sweeps: { failed: 3 } });
    failing = false;
    await server.reap();
    expect((await promotion(server, 'still-b')).whys).toEqual(['owed']);
  });

  it('one pass makes one sweep, with all its whys', async () => {
    await line('pass', 'b', 'c');
    once('sweep.begin', fail);
    await cancel(server, 'pass-c');
    expect((await server.node('pass-N1', []).claim()).status).toBe(200);
    await server.database.sql(
      "UPDATE leases SET not_after = clock_timestamp() - interval '1 s' WHERE run_id = 'pass-a'",
    );
    const counted = await countWakes(server);
    expect(await server.reap()).toMatchObject({ expired: 1, errors: 0 });
    expect(await counted()).toEqual({ wakes: { reaper: 1, owed: 1 }, sweeps: { clean: 1 } });
    expect(new Set((await promotion(server, 'pass-b')).whys)).toEqual(new Set(['reaper', 'owed']));
  });

  describe('starting over', () => {
    /** Lets so many promotions collide; gives how often the sweep read everything and what it tried. */
    function collide(times: number): { reads: number; tried: number } {
      const seen = { reads: 0, tried: 0 };
      atFailpoints((name) => {
        if (name === 'sweep.read') seen.reads += 1;
        if (name !== 'promote.before-grant') return;
        seen.tried += 1;
        if (seen.tried <= times) throw Object.assign(new Error('deadlock detected'), { code: '40P01' });
      });
      return seen;
    }

    it('20 collisions in a row: the sweep starts over as often and goes on', async () => {
      await line('twenty', 'b');
      const counted = await countWakes(server);
      const seen = collide(20);
      await cancel(server, 'twenty-a');
      expect(seen).toEqual({ reads: 21, tried: 21 });
      expect(await promotion(server, 'twenty-b')).toEqual({
        state: 'RUNNING',
        whys: ['cancel'],
        holds: ['twenty-N1'],
      });
      expect(await counted()).toEqual({ wakes: { cancel: 1 }, sweeps: { clean: 1 } });
    });

    it('one more: it gives up, and the next pass makes up for it', async () => {
      await line('more', 'b');
      const counted = await countWakes(server);
      const seen = collide(21);
      expect((await cancel(server, 'more-a')).status).toBe(200);
      expect(seen).toEqual({ reads: 21, tried: 21 });
      expect((await promotion(server, 'more-b')).state).toBe('QUEUED');
      await server.reap();
      await server.reap();
      expect(await promotion(server, 'more-b')).toEqual({ state: 'RUNNING', whys: ['owed'], holds: ['more-N1'] });
      expect(await counted()).toEqual({ wakes: { cancel: 1, owed: 1 }, sweeps: { incomplete: 1, clean: 1 } });
    });

    it('begins with the oldest again', async () => {
      await line('oldest', 'b', 'c');
      const seen = collide(1);
      await cancel(server, 'oldest-a');
      expect(seen).toEqual({ reads: 2, tried: 2 });
      expect(await states(server, 'oldest-b', 'oldest-c')).toEqual(['RUNNING', 'QUEUED']);
    });
  });

  it('what fails after the release fails neither the wake nor the request: a seal is made up for', async () => {
    const n1 = await line('seal', 'b');
    once('seal.before-commit', fail);
    expect(await n1.work()).toMatchObject({ status: 200, body: { run_state: 'SUCCEEDED' } });
    expect((await promotion(server, 'seal-b')).whys).toEqual(['result']);
    expect((await show(server, 'seal-a')).record).toEqual({ state: 'OPEN', digest: null });
    expect(await server.reap()).toMatchObject({ sealed: 1 });
    expect((await show(server, 'seal-a')).record).toMatchObject({ state: 'SEALED' });
  });

  it('a release that was rolled back wakes nobody', async () => {
    const n1 = await line('rolled', 'b');
    const { body: claim } = await n1.claim();
    const counted = await countWakes(server);
    once('report.before-commit', fail);
    expect((await n1.report(claim)).status).toBe(500);
    once('cancel.before-commit', fail);
    expect((await cancel(server, 'rolled-a')).status).toBe(500);
    await server.reap();
    expect(await counted()).toEqual(NOTHING);
    expect(await promotion(server, 'rolled-a')).toMatchObject({ state: 'RUNNING', holds: ['rolled-N1'] });
    expect((await n1.report(claim)).body).toMatchObject({ run_state: 'SUCCEEDED' });
    expect((await promotion(server, 'rolled-b')).whys).toEqual(['result']);
  });
});

describe('wakes that come during a sweep', () => {
  const server = serverSuite({ env: { MEDIATOR_DB_POOL_SIZE: '2' } });
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

import { afterAll, afterEach, beforeAll, describe, expect, it } from '@jest/globals';
import { atFailpoints } from '../../src/platform/failpoints.js';
import { needs, R, step } from '../support/contracts.js';
import { startTestMediator, type TestMediator } from '../support/mediator.js';
import { cancel, countWakes, promotion, show, states, submit, submitAll } from '../support/queue.js';

describe('sweeps that meet others', () => {
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

  /** Nobody passes the point before so many have come; later ones pass. */
  function meetAt(name: string, expected: number): { came: () => number; first: Promise<void> } {
    let came = 0;
    let open: () => void = () => undefined;
    let arrive: () => void = () => undefined;
    const all = new Promise<void>((resolve) => (open = resolve));
    const first = new Promise<void>((resolve) => (arrive = resolve));
    atFailpoints(async (point) => {
      if (point !== name) return;
      came += 1;
      arrive();
      if (came === expected) open();
      await all;
    });
    return { came: () => came, first };
  }

  it('B15 two servers sweep at once, two runs wait for one node: one has it, by one lease, and nobody fails', async () => {
    const n1 = server.node('B15-N1', [{ role: 'b15' }]);
    await n1.advertise();
    const runs = ['b15-a', 'b15-b', 'b15-c', 'b15-d'].map((run_id) => R('b15', { run_id }));
    expect(await submitAll(server, ...runs)).toEqual([201, 202, 202, 202]);
    const [here, there] = [await countWakes(server), await countWakes(other)];
    const meeting = meetAt('sweep.read', 2);

    // Both have read that N1 is free and b waits, before either of them promotes.
    const released = n1.work();
    await meeting.first;
    const cancelled = cancel(other, 'b15-d');
    expect((await released).status).toBe(200);
    expect((await cancelled).status).toBe(200);

    expect(meeting.came()).toBeGreaterThan(2);
    expect(await states(server, 'b15-a', 'b15-b', 'b15-c', 'b15-d')).toEqual([
      'SUCCEEDED',
      'RUNNING',
      'QUEUED',
      'CANCELLED',
    ]);
    expect(await server.database.sql("SELECT node_id, run_id FROM leases WHERE node_id = 'B15-N1'")).toEqual([
      { node_id: 'B15-N1', run_id: 'b15-b' },
    ]);
    expect(await server.database.sql("SELECT 1 FROM grants WHERE run_id IN ('b15-b', 'b15-c', 'b15-d')")).toHaveLength(
      1,
    );
    expect(await here()).toEqual({ wakes: { result: 1 }, sweeps: { clean: 1 } });
    expect(await there()).toEqual({ wakes: { cancel: 1 }, sweeps: { clean: 1 } });
    expect((await promotion(server, 'b15-b')).whys).toHaveLength(1);
  });

  it('two servers sweep at once, two runs wait for two nodes: each has one', async () => {
    await server.node('TWO-N1', [{ role: 'two' }]).advertise();
    await server.node('TWO-N2', [{ role: 'two' }]).advertise();
    const both = { run_id: 'two-a', requires: [needs('two', { count: 2 })], steps: [step('only', 'two')] };
    const runs = ['two-b', 'two-c', 'two-d'].map((run_id) => R('two', { run_id }));
    expect(await submitAll(server, both, ...runs)).toEqual([201, 202, 202, 202]);
    const meeting = meetAt('sweep.read', 2);
    const released = cancel(server, 'two-a');
    await meeting.first;
    const [, second] = await Promise.all([released, cancel(other, 'two-d')]);
    expect(second.status).toBe(200);
    expect(await states(server, 'two-b', 'two-c', 'two-d')).toEqual(['RUNNING', 'RUNNING', 'CANCELLED']);
    expect(
      await server.database.sql("SELECT node_id, run_id FROM leases WHERE node_id LIKE 'TWO-%' ORDER BY run_id"),
    ).toEqual([
      { node_id: expect.any(String), run_id: 'two-b' },
      { node_id: expect.any(String), run_id: 'two-c' },
    ]);
  });

  describe('B26 the node that was picked is gone between look and grant, and another fits: the run has that one, in the same wake', () => {
    let count = 0;

    /** Runs onto N2, since something happens to N1, which it is matched with, at the point. */
    async function promotedAround(
      point: string,
      spoil: (role: string, n1: string) => Promise<unknown>,
      starts = 2,
    ): Promise<string> {
      const role = `b26-${++count}`;
      await server.node(`${role}-N1`, [{ role }]).advertise();
      await server.node(`${role}-N2`, [{ role }]).advertise();
      const both = { run_id: `${role}-a`, requires: [needs(role, { count: 2 })], steps: [step('only', role)] };
      expect(await submitAll(server, both, R(role, { run_id: `${role}-b` }))).toEqual([201, 202]);
      const counted = await countWakes(server);
      let reads = 0;
      let spoilt = false;
      atFailpoints(async (name) => {
        if (name === 'sweep.read') reads += 1;
        if (name !== point || spoilt) return;
        spoilt = true;
        await spoil(role, `${role}-N1`);
      });

      expect(await cancel(server, `${role}-a`)).toMatchObject({ status: 200 });

      expect(await promotion(server, `${role}-b`)).toEqual({
        state: 'RUNNING',
        whys: ['cancel'],
        holds: [`${role}-N2`],
      });
      expect(await show(server, `${role}-b`)).toMatchObject({
        assigned: [{ as: role, nodes: [{ node_id: `${role}-N2` }] }],
        steps: [{ node_id: `${role}-N2` }],
      });
      expect(reads).toBe(starts);
      expect(await counted()).toEqual({ wakes: { cancel: 1 }, sweeps: { clean: 1 } });
      return role;
    }

    it('taken by a submission', async () => {
      const role = await promotedAround('sweep.read', async (taken) => {
        expect((await submit(server, R(taken, { run_id: `${taken}-thief` }))).status).toBe(201);
      });
      expect((await promotion(server, `${role}-thief`)).holds).toEqual([`${role}-N1`]);
      expect(await server.database.sql('SELECT node_id FROM grants WHERE run_id = $1', [`${role}-b`])).toEqual([
        { node_id: `${role}-N2` },
      ]);
    });

    it('it drains', async () => {
      await promotedAround('sweep.read', (role, n1) => server.node(n1, [{ role }]).advertise({ drain: 'graceful' }));
    });

    it('it offers no longer what it was matched by', async () => {
      await promotedAround('sweep.read', (_role, n1) => server.node(n1).advertise());
    });

    it('its advert has expired', async () => {
      await promotedAround('sweep.read', (_role, n1) =>
        server.database.sql('UPDATE nodes SET expires_at = clock_timestamp() WHERE node_id = $1', [n1]),
      );
    });

    it('the grant meets a serialization failure first: the same node is tried again', async () => {
      let failures = 0;
      const role = 'b26-serial';
      await server.node(`${role}-N1`, [{ role }]).advertise();
      expect(await submitAll(server, R(role, { run_id: `${role}-a` }), R(role, { run_id: `${role}-b` }))).toEqual([
        201, 202,
      ]);
      atFailpoints((name) => {
        if (name === 'promote.before-grant' && ++failures <= 3)
          throw Object.assign(new Error('again'), { code: '40001' });
      });
      await cancel(server, `${role}-a`);
      expect(failures).toBe(4);
      expect(await promotion(server, `${role}-b`)).toEqual({
        state: 'RUNNING',
        whys: ['cancel'],
        holds: [`${role}-N1`],
      });
    });
  });

  it('a run that is cancelled while the sweep has it in view is passed over, and the next in line has the node', async () => {
    const n1 = server.node('GONE-N1', [{ role: 'gone' }]);
    await n1.advertise();
    const runs = ['gone-a', 'gone-b', 'gone-c'].map((run_id) => R('gone', { run_id }));
    expect(await submitAll(server, ...runs)).toEqual([201, 202, 202]);
    let [begun, read] = [0, 0];
    atFailpoints(async (name) => {
      // The sweep of the cancel itself fails: whatever happens is this sweep's doing.
      if (name === 'sweep.begin' && ++begun === 2) throw new Error('forced');
      if (name === 'sweep.read' && ++read === 1) await cancel(other, 'gone-b');
    });
    const counted = await countWakes(server);
    expect((await n1.work()).status).toBe(200);
    expect([begun, read]).toEqual([2, 1]);
    expect(await promotion(server, 'gone-c')).toEqual({ state: 'RUNNING', whys: ['result'], holds: ['GONE-N1'] });
    expect(await show(server, 'gone-b')).toMatchObject({ state: 'CANCELLED', assigned: [], started_at: null });
    expect(await counted()).toEqual({ wakes: { result: 1 }, sweeps: { clean: 1 } });
  });
});

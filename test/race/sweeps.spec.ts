import { afterAll, afterEach, describe, expect, it } from '@jest/globals';
import { atFailpoints } from '../../src/platform/failpoints.js';
import { Lifecycle } from '../../src/platform/lifecycle.js';
import { QueueService } from '../../src/queue/queue.service.js';
import { needs, R, step } from '../support/contracts.js';
import { eventually } from '../support/eventually.js';
import type { TestMediator } from '../support/mediator.js';
import { hold, once } from '../support/failpoints.js';
import { cancel, countWakes, promotion, show, states, submit, submitAll } from '../support/queue.js';
import { databaseSuite, serverSuite } from '../support/server-suite.js';

describe('sweeps that meet others', () => {
  const server = serverSuite();
  const other = serverSuite({ beside: server });

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

const MANY = 7;

describe('a sweep that promotes many', () => {
  const server = serverSuite();
  afterEach(async () => {
    atFailpoints(undefined);
    expect(await server.violations()).toEqual([]);
  });
  afterAll(() => server.close());

  const runId = (role: string, index: number): string => `${role}-${index}`;
  const nodeId = (role: string, index: number): string => `${role}-N${index}`;

  /** Seven nodes that one run holds, and seven runs that wait for one of them each. */
  async function sevenWait(role: string): Promise<string> {
    for (let index = 1; index <= MANY; index++) await server.node(nodeId(role, index), [{ role }]).advertise();
    const holder = { run_id: `${role}-holder`, requires: [needs(role, { count: MANY })], steps: [step('only', role)] };
    const waiting = Array.from({ length: MANY }, (_, index) => R(role, { run_id: runId(role, index + 1) }));
    expect(await submitAll(server, holder, ...waiting)).toEqual([201, ...waiting.map(() => 202)]);
    return holder.run_id;
  }

  /** By run, from 1: the nodes that it holds. */
  const held = (role: string): Promise<string[][]> =>
    Promise.all(Array.from({ length: MANY }, async (_, i) => (await promotion(server, runId(role, i + 1))).holds));

  it('takes one transaction for the first, two for the next six', async () => {
    const holder = await sevenWait('seven');
    const passed: string[] = [];
    atFailpoints((name) => void passed.push(name));
    expect((await cancel(server, holder)).status).toBe(200);
    expect(await held('seven')).toEqual([1, 2, 3, 4, 5, 6, 7].map((index) => [nodeId('seven', index)]));
    expect(passed.filter((name) => name === 'promote.committed')).toHaveLength(3);
    expect(passed.filter((name) => name === 'sweep.read')).toHaveLength(1);
  });

  it('one of several whose promotion fails hurts no other, and the nodes it would have had are for those behind it', async () => {
    const holder = await sevenWait('bad');
    await server.database.sql(
      `CREATE FUNCTION fail_bad() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN RAISE 'forced'; END $$;
       CREATE TRIGGER bad BEFORE UPDATE ON runs FOR EACH ROW
         WHEN (NEW.run_id = 'bad-5' AND NEW.state = 'RUNNING') EXECUTE FUNCTION fail_bad()`,
    );
    const counted = await countWakes(server);
    expect((await cancel(server, holder)).status).toBe(200);
    expect(await held('bad')).toEqual([
      ...[1, 2, 3, 4].map((index) => [nodeId('bad', index)]),
      [],
      ['bad-N5'],
      ['bad-N6'],
    ]);
    expect(await counted()).toEqual({ wakes: { cancel: 1 }, sweeps: { incomplete: 1 } });

    await server.database.sql('DROP TRIGGER bad ON runs');
    await server.reap();
    expect(await promotion(server, 'bad-5')).toEqual({ state: 'RUNNING', whys: ['owed'], holds: ['bad-N7'] });
  });

  it('one of several that was cancelled meanwhile is passed over, and nothing is owed', async () => {
    const holder = await sevenWait('gone');
    const counted = await countWakes(server);
    const sweeping = hold('sweep.read');
    const released = cancel(server, holder);
    await sweeping.reached;
    const cancelled = cancel(server, 'gone-6');
    await eventually('the waiting run is cancelled', async () => {
      const [run] = await server.database.sql<{ state: string }>("SELECT state FROM runs WHERE run_id = 'gone-6'");
      return run!.state === 'CANCELLED';
    });
    sweeping.letGo();
    expect((await Promise.all([released, cancelled])).map(({ status }) => status)).toEqual([200, 200]);
    expect(await held('gone')).toEqual([...[1, 2, 3, 4, 5].map((index) => [nodeId('gone', index)]), [], ['gone-N6']]);
    expect((await counted()).sweeps).toEqual({ clean: 2 });
  });
});

describe('the end of the grace', () => {
  const database = databaseSuite({ perTest: true });

  /** A server, three nodes that a run holds, and three runs that wait for one of them each. */
  async function crowded(): Promise<TestMediator> {
    const server = await database.start();
    for (const node of ['N1', 'N2', 'N3']) await server.node(node, [{ role: 'x' }]).advertise();
    const all = { run_id: 'all', requires: [needs('x', { count: 3 })], steps: [step('only', 'x')] };
    const waiting = ['a', 'b', 'c'].map((run_id) => R('x', { run_id }));
    expect(await submitAll(server, all, ...waiting)).toEqual([201, 202, 202, 202]);
    return server;
  }

  it('during a sweep: it stops between two runs, is owed, and another server does the rest', async () => {
    const server = await crowded();
    const counted = await countWakes(server);
    once('promote.committed', () => server.mediator.app.get(Lifecycle).endGrace());

    expect((await cancel(server, 'all')).status).toBe(200);

    expect(await states(server, 'a', 'b', 'c')).toEqual(['RUNNING', 'QUEUED', 'QUEUED']);
    expect(await counted()).toEqual({ wakes: { cancel: 1 }, sweeps: { incomplete: 1 } });
    expect(server.mediator.app.get(QueueService).owed).toBe(true);
    expect(await server.violations()).toEqual([]);
    await server.stop();
    // Its row is there for others to find: something is owed.
    expect(await database.sql('SELECT stopped_at FROM servers')).toEqual([{ stopped_at: null }]);

    const next = await database.start();
    expect(await states(next, 'a', 'b', 'c')).toEqual(['RUNNING', 'RUNNING', 'RUNNING']);
    expect((await promotion(next, 'b')).whys).toEqual(['startup']);
  });

  it('during a pass of the reaper: it stops between two runs, and the next pass does the rest', async () => {
    const server = await crowded();
    await cancel(server, 'all');
    const nodes = await database.sql<{ node_id: string }>('SELECT node_id FROM leases');
    for (const { node_id } of nodes) expect((await server.node(node_id, []).claim()).status).toBe(200);
    await database.sql("UPDATE leases SET not_after = clock_timestamp() - interval '1 s'");
    once('expire.committed', () => server.mediator.app.get(Lifecycle).endGrace());

    expect(await server.reap()).toMatchObject({ expired: 1, errors: 0 });

    expect((await states(server, 'a', 'b', 'c')).sort()).toEqual(['FAILED', 'RUNNING', 'RUNNING']);
    await server.stop();
    const next = await database.start();
    await next.reap();
    expect(await states(next, 'a', 'b', 'c')).toEqual(['FAILED', 'FAILED', 'FAILED']);
  });
});

import { beforeAll, describe, expect, it } from '@jest/globals';
import { Promote } from '../../src/queue/promote.js';
import { ServerPresence } from '../../src/reaper/servers/server-presence.js';
import { needs, R, step } from '../support/contracts.js';
import { eventually } from '../support/eventually.js';
import type { Answer } from '../support/http.js';
import { letTimePass } from '../support/let-time-pass.js';
import { blockedOn, blockedOrAnswered } from '../support/parked.js';
import type { PlayedNode } from '../support/played-node.js';
import { hold, once } from '../support/failpoints.js';
import { cancel, show, states, submit, submitAll } from '../support/queue.js';
import { serverSuite } from '../support/server-suite.js';
import { openSession } from '../support/session.js';

type Session = Awaited<ReturnType<typeof openSession>>;

// Whoever is to wait at the first lock holds none of the later ones: a session of the test's own keeps the first.
describe('the order of locks', () => {
  let holder: Session;
  let looker: Session;
  const server = serverSuite();
  beforeAll(async () => {
    [holder, looker] = [await openSession(server.database), await openSession(server.database)];
  });
  server.atEnd(() => Promise.all([holder.close(), looker.close()]));

  /** Does something while the node is held, when so many wait for it; then lets them go. */
  async function whileHeld(nodeId: string, waiting: number, look: () => Promise<unknown>): Promise<void> {
    await holder.sql('BEGIN');
    await holder.sql('SELECT FROM nodes WHERE node_id = $1 FOR NO KEY UPDATE', [nodeId]);
    try {
      await look();
      await eventually(`${waiting} wait for ${nodeId}`, async () => {
        const blocked = await server.database.sql(
          "SELECT FROM pg_stat_activity WHERE datname = current_database() AND wait_event_type = 'Lock'",
        );
        return blocked.length === waiting;
      });
    } finally {
      await holder.sql('COMMIT');
    }
  }
  const isFree = (table: string, key: string, id: string): Promise<unknown[]> =>
    looker.sql(`SELECT ${key} FROM ${table} WHERE ${key} = $1 FOR UPDATE NOWAIT`, [id]);
  const deadlocks = async (): Promise<number> => {
    const [row] = await server.database.sql<{ deadlocks: number }>(
      'SELECT deadlocks::int AS deadlocks FROM pg_stat_database WHERE datname = current_database()',
    );
    return row!.deadlocks;
  };

  it('two creations of the same two nodes, named the other way round: both are at the first node, and one has both', async () => {
    for (const role of ['c-x', 'c-y']) await server.node(`${role}-N`, [{ role }]).advertise();
    const contract = (run_id: string, ...roles: string[]) => ({
      run_id,
      requires: roles.map((role) => needs(role)),
      steps: roles.map((role) => step(role, role)),
    });
    let answers: ReturnType<typeof submit>[] = [];
    await whileHeld('c-x-N', 2, async () => {
      answers = [submit(server, contract('c-1', 'c-x', 'c-y')), submit(server, contract('c-2', 'c-y', 'c-x'))];
      await blockedOn(server.database, 'leases.grant-new-run');
      expect(await isFree('nodes', 'node_id', 'c-y-N')).toHaveLength(1);
    });
    expect((await Promise.all(answers)).map(({ status }) => status).sort()).toEqual([201, 202]);
    expect(await server.figure('mediator_transaction_retries_total{transaction="create"}')).toBe(0);
    expect(await deadlocks()).toBe(0);
  });

  it('two promotions of two runs each, matched the other way round: both are at the first node, and one has both', async () => {
    for (const role of ['p-x', 'p-y', 'p-busy']) await server.node(`${role}-N`, [{ role }]).advertise();
    const waiting = ['p-1', 'p-2', 'p-3', 'p-4'].map((run_id) => R('p-busy', { run_id }));
    expect(await submitAll(server, R('p-busy', { run_id: 'p-0' }), ...waiting)).toEqual([201, 202, 202, 202, 202]);
    const [offer] = await server.database.sql<{ rev: number }>(
      "SELECT offer_rev::int AS rev FROM nodes WHERE node_id = 'p-x-N'",
    );
    const onto = (run_id: string, node_id: string) => ({
      run_id,
      assigned: [{ as: 'p-busy', nodes: [{ node_id, label: node_id }] }],
      nodes: [{ node_id, offer_rev: offer!.rev, roles: ['p-busy'] }],
    });
    const promote = (...runs: ReturnType<typeof onto>[]) =>
      server.mediator.app.get(Promote).promote(runs, ['result'], { serverSteps: false });
    let promotions: ReturnType<typeof promote>[] = [];
    await whileHeld('p-x-N', 2, async () => {
      promotions = [
        promote(onto('p-1', 'p-y-N'), onto('p-2', 'p-x-N')),
        promote(onto('p-3', 'p-y-N'), onto('p-4', 'p-x-N')),
      ];
      await blockedOn(server.database, 'queue.promote');
      expect(await isFree('nodes', 'node_id', 'p-y-N')).toHaveLength(1);
    });
    expect((await Promise.all(promotions)).map(({ kind }) => kind).sort()).toEqual(['collided', 'promoted']);
    expect(await deadlocks()).toBe(0);
    for (const run of ['p-4', 'p-3', 'p-2', 'p-1', 'p-0']) await cancel(server, run);
  });

  it('a claim, and a report, wait for the node without the lock of the run', async () => {
    const node = server.node('r-N', [{ role: 'r' }]);
    await node.advertise();
    expect(await submitAll(server, R('r', { run_id: 'r-1' }))).toEqual([201]);
    let claimed: ReturnType<typeof node.claim> | undefined;
    await whileHeld('r-N', 1, async () => {
      claimed = node.claim();
      await blockedOn(server.database, 'fleet.lock-node');
      expect(await isFree('runs', 'run_id', 'r-1')).toHaveLength(1);
    });
    const { body: claim } = await claimed!;
    let reported: ReturnType<typeof node.report> | undefined;
    await whileHeld('r-N', 1, async () => {
      reported = node.report(claim);
      await blockedOn(server.database, 'fleet.lock-node');
      expect(await isFree('runs', 'run_id', 'r-1')).toHaveLength(1);
    });
    expect((await reported!).status).toBe(200);
    expect(await states(server, 'r-1')).toEqual(['SUCCEEDED']);
  });

  it('who finds an outage waits for the first node without the lock of a later one', async () => {
    // In the order in which they are stored the later one comes first.
    for (const nodeId of ['z-2', 'a-1']) await server.node(nodeId, [{ role: 'o' }]).advertise();
    await server.node('a-1', [{ role: 'o' }]).advertise();
    await letTimePass(server.database, 3 * 3600 - 60);
    await server.database.sql(
      "UPDATE nodes SET expires_at = clock_timestamp() + interval '1 h' WHERE node_id IN ('z-2', 'a-1')",
    );
    let touched: Promise<void> | undefined;
    await whileHeld('a-1', 1, async () => {
      touched = server.mediator.app.get(ServerPresence).touch();
      await eventually('it waits', async () => {
        const blocked = await server.database.sql(
          "SELECT FROM pg_stat_activity WHERE datname = current_database() AND wait_event_type = 'Lock'",
        );
        return blocked.length === 1;
      });
      expect(await isFree('nodes', 'node_id', 'z-2')).toHaveLength(1);
    });
    await touched;
    expect((await show(server, 'r-1')).state).toBe('SUCCEEDED');
  });
});

// Between the look and the grant something becomes of the node. A grant asks for all of it once more, under its share lock.
describe('what a grant asks of a node once more', () => {
  const server = serverSuite();
  let made = 0;

  /** A node `n` of a role of its own, which is live and free. */
  async function fresh(): Promise<{ role: string; n: PlayedNode }> {
    const role = `g${++made}`;
    const n = server.node(`${role}-N`, [{ role }]);
    await n.advertise();
    return { role, n };
  }
  const write = (sql: string) => (n: PlayedNode) => server.database.sql(`${sql} WHERE node_id = $1`, [n.nodeId]);

  /** What can become of a node, so that it is not to be had any more. */
  const CHANGES: [string, (n: PlayedNode) => Promise<unknown>][] = [
    // Less, since more would wake the sweep that is under way, which waits for this.
    ['offers it no more', (n) => n.advertise({ capabilities: [] })],
    ['drains', (n) => n.advertise({ drain: 'graceful' })],
    ['has expired', write('UPDATE nodes SET expires_at = clock_timestamp()')],
    ['has been silent since an outage', write('UPDATE nodes SET revived = true')],
  ];

  /** What grants a node: how it is done, at which point it has looked and not granted yet, and that nothing was granted. */
  interface Grant {
    what: string;
    point: string;
    /** Prepares what is needed, and gives what makes the grant: its answer says that it is done. */
    prepare(role: string): Promise<() => Promise<Answer>>;
    expectNone(role: string): Promise<void>;
  }

  const GRANTS: Grant[] = [
    {
      what: 'a creation',
      point: 'create.before-grant',
      prepare: (role) => Promise.resolve(() => submit(server, R(role, { run_id: role }))),
      expectNone: async (role) => expect(await show(server, role)).toMatchObject({ state: 'QUEUED', assigned: [] }),
    },
    {
      what: 'a promotion',
      point: 'promote.before-grant',
      // It waits for another node, whose release promotes it.
      prepare: async (role) => {
        const other = `${role}-other`;
        await server.node(`${other}-N`, [{ role: other }]).advertise();
        const both = { run_id: role, requires: [needs(role), needs(other)], steps: [step('only', role)] };
        await submitAll(server, R(other, { run_id: other }), both);
        return () => cancel(server, other);
      },
      expectNone: async (role) => expect(await show(server, role)).toMatchObject({ state: 'QUEUED', assigned: [] }),
    },
    {
      what: 'an acquire',
      point: 'create.before-acquire',
      prepare: async (role) => {
        const base = `${role}-base`;
        await server.node(`${base}-N`, [{ role: base }]).advertise();
        const acquire = { want: needs(role), acquired: 'more', unavailable: 'without' };
        const steps = [{ id: 'take', acquire }, step('more', role), step('without', base)];
        return () => submit(server, { run_id: role, requires: [needs(base)], steps });
      },
      expectNone: async (role) =>
        expect(await show(server, role)).toMatchObject({
          state: 'RUNNING',
          assigned: [{ as: `${role}-base` }],
          steps: [{ state: 'DONE' }, { state: 'SKIPPED' }, { state: 'PENDING' }],
        }),
    },
  ];

  const leases = ({ nodeId }: PlayedNode): Promise<object[]> =>
    server.database.sql(
      'SELECT run_id FROM leases WHERE node_id = $1 UNION SELECT run_id FROM grants WHERE node_id = $1',
      [nodeId],
    );

  describe.each(GRANTS)('$what', ({ point, prepare, expectNone }) => {
    it('takes the node that it has looked at, where nothing becomes of it', async () => {
      const { role, n } = await fresh();
      const grant = await prepare(role);
      let passed = 0;
      once(point, () => (passed += 1));
      await grant();
      expect(passed).toBe(1);
      expect(await leases(n)).toEqual([{ run_id: role }]);
      await cancel(server, role);
    });

    it.each(CHANGES)('does not take a node that %s by then', async (_what, change) => {
      const { role, n } = await fresh();
      const grant = await prepare(role);
      let passed = 0;
      once(point, async () => {
        passed += 1;
        await change(n);
      });
      expect((await grant()).status).toBeLessThan(300);
      expect(passed).toBe(1);
      await expectNone(role);
      expect(await leases(n)).toEqual([]);
      await cancel(server, role);
    });

    it('waits for an advert that is being stored, and heeds it', async () => {
      const { role, n } = await fresh();
      const grant = await prepare(role);
      const advert = hold('advert.before-commit');
      const advertised = n.advertise({ drain: 'graceful' });
      await advert.reached;

      const granted = grant();
      await blockedOrAnswered(server.database, granted);
      advert.letGo();

      // The node was told that it holds nothing, and so it is.
      expect((await advertised).body).toMatchObject({ drain: 'graceful', leases: [] });
      expect((await granted).status).toBeLessThan(300);
      await expectNone(role);
      expect(await leases(n)).toEqual([]);
      await cancel(server, role);
    });
  });
});

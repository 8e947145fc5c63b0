import { afterAll, afterEach, beforeAll, describe, expect, it } from '@jest/globals';
import { atFailpoints } from '../../src/platform/failpoints.js';
import { needs, R, step } from '../support/contracts.js';
import type { Answer } from '../support/http.js';
import { startTestMediator, type TestMediator } from '../support/mediator.js';
import { blockedOrAnswered } from '../support/parked.js';
import type { PlayedNode } from '../support/played-node.js';
import { hold, once } from '../support/points.js';
import { cancel, show, submit, submitAll } from '../support/queue.js';

// Between the look and the grant something becomes of the node. A grant asks for all of it once more, under its share lock.
describe('what a grant asks of a node once more', () => {
  let server: TestMediator;
  let made = 0;
  beforeAll(async () => {
    server = await startTestMediator();
  });
  afterEach(async () => {
    atFailpoints(undefined);
    expect(await server.violations()).toEqual([]);
  });
  afterAll(() => server.close());

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

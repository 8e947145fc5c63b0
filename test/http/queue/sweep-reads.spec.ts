import { afterAll, afterEach, beforeAll, describe, expect, it, jest } from '@jest/globals';
import { FleetView } from '../../../src/fleet/fleet-view.js';
import { LeaseTerms } from '../../../src/leases/lease-terms.js';
import { Config } from '../../../src/platform/config/config.js';
import { Database } from '../../../src/platform/database/database.js';
import { Lifecycle } from '../../../src/platform/lifecycle.js';
import { Metrics } from '../../../src/platform/metrics/metrics.js';
import { Promote } from '../../../src/queue/promote.js';
import { QueueView } from '../../../src/queue/queue-view.js';
import { QueueService } from '../../../src/queue/queue.service.js';
import { Sweep } from '../../../src/queue/sweep.js';
import { R } from '../../support/contracts.js';
import { eventually } from '../../support/eventually.js';
import { startTestMediator, type TestMediator } from '../../support/mediator.js';
import { cancel, countWakes, promotion, states, submit, submitAll } from '../../support/queue.js';

/** What is read at the first look only. */
const WHOLE = ['queue.read-moment', 'queue.read-runs', 'fleet.read-whole'];

describe('what a sweep reads', () => {
  let server: TestMediator;
  let database: Database;
  beforeAll(async () => {
    server = await startTestMediator();
    database = server.mediator.app.get(Database);
  });
  afterEach(async () => {
    jest.restoreAllMocks();
    expect(await server.violations()).toEqual([]);
  });
  afterAll(() => server.close());

  /** Counts the statements outside transactions by the name each begins with. */
  async function statementsOf(act: () => Promise<unknown>): Promise<Record<string, number>> {
    const spy = jest.spyOn(database, 'query');
    await act();
    const counts: Record<string, number> = {};
    for (const [sql] of spy.mock.calls) {
      const name = /^\s*\/\* (\S+) \*\//.exec(sql)![1]!;
      counts[name] = (counts[name] ?? 0) + 1;
    }
    spy.mockRestore();
    return counts;
  }

  /** The database is asked for it once in 5 s. */
  const expectDepth = (depth: number): Promise<boolean> =>
    eventually(`${depth} wait`, async () => (await server.figure('mediator_queue_depth')) === depth);

  it('B21 with one queued run or a thousand, a sweep reads the queue, the adverts and who is unavailable once', async () => {
    await server.node('B21-N1', [{ role: 'b21' }]).advertise();
    expect(await submitAll(server, R('b21', { run_id: 'b21-a' }), R('b21', { run_id: 'b21-b' }))).toEqual([201, 202]);
    const withOne = await statementsOf(() => cancel(server, 'b21-a'));
    expect(await promotion(server, 'b21-b')).toEqual({ state: 'RUNNING', whys: ['cancel'], holds: ['B21-N1'] });

    expect((await submit(server, R('b21', { run_id: 'b21-c' }))).status).toBe(202);
    await server.database.sql(
      `WITH copies AS (
         INSERT INTO runs (run_id, state, principal, contract, contract_hash, requires, spread, signature, queued_at, wait_reason)
         SELECT 'b21-copy-' || n, state, principal, contract, contract_hash, requires, spread, signature, clock_timestamp(), wait_reason
           FROM runs, generate_series(1, 999) n WHERE run_id = 'b21-c' RETURNING run_id)
       INSERT INTO records (run_id) SELECT run_id FROM copies`,
    );
    await expectDepth(1000);
    const withThousand = await statementsOf(() => cancel(server, 'b21-b'));

    expect(await promotion(server, 'b21-c')).toEqual({ state: 'RUNNING', whys: ['cancel'], holds: ['B21-N1'] });
    await expectDepth(999);
    expect(withOne).toMatchObject({ 'queue.read-changes': 1, 'fleet.read-changes': 1 });
    for (const name of WHOLE) expect(withOne).not.toHaveProperty([name]);
    expect(withThousand).toEqual(withOne);
    await server.database.sql(
      "DELETE FROM records WHERE run_id LIKE 'b21-copy-%'; DELETE FROM runs WHERE run_id LIKE 'b21-copy-%'",
    );
  });

  it('where nothing is queued, a sweep is one cheap read', async () => {
    await server.node('NONE-N1', [{ role: 'none' }]).advertise();
    expect((await submit(server, R('none', { run_id: 'none-a' }))).status).toBe(201);
    const counted = await countWakes(server);
    const statements = await statementsOf(() => cancel(server, 'none-a'));
    expect(statements).toMatchObject({ 'queue.read-changes': 1 });
    for (const name of ['fleet.read-changes', ...WHOLE]) expect(statements).not.toHaveProperty([name]);
    expect(await counted()).toEqual({ wakes: { cancel: 1 }, sweeps: { clean: 1 } });
  });

  it.each([0, -1, NaN, undefined])(
    'B11 leases with a time to live of %s: the sweep throws inside, nothing is promoted',
    async (ttl) => {
      const role = `b11-${ttl}`;
      await server.node(`${role}-N1`, [{ role }]).advertise();
      expect(await submitAll(server, R(role, { run_id: `${role}-a` }), R(role, { run_id: `${role}-b` }))).toEqual([
        201, 202,
      ]);
      // A free node beside the queue that no event has told of.
      await server.database.sql(
        "INSERT INTO nodes (node_id, label, capabilities, expires_at) VALUES ($1, $1, $2, clock_timestamp() + interval '1 h')",
        [`${role}-N2`, JSON.stringify([{ capability: 'board', attrs: { role } }])],
      );
      const { app } = server.mediator;
      const values = { ...app.get(Config), leaseTtlSeconds: ttl as number };
      const config = new Config(values);
      const metrics = new Metrics();
      const promote = new Promote(database, new LeaseTerms(config), metrics);
      const sweep = new Sweep(app.get(FleetView), app.get(QueueView), promote, config, app.get(Lifecycle));
      const queue = new QueueService(sweep, metrics);

      await expect(sweep.run(['cancel'])).rejects.toThrow(/time to live/);
      await expect(queue.wake('cancel')).resolves.toBeUndefined();

      expect(queue.owed).toBe(true);
      expect(await metrics.registry.getSingleMetricAsString('mediator_sweeps_total')).toContain('{result="failed"} 1');
      expect(await promotion(server, `${role}-b`)).toEqual({ state: 'QUEUED', whys: null, holds: [] });
      // The same queue with leases that end.
      await new QueueService(app.get(Sweep), new Metrics()).wake('cancel');
      expect(await states(server, `${role}-b`)).toEqual(['RUNNING']);
    },
  );
});

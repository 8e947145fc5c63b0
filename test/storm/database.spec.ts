import { afterAll, afterEach, beforeAll, describe, expect, it, jest } from '@jest/globals';
import { atFailpoints } from '../../src/platform/failpoints.js';
import { within } from '../../src/platform/within.js';
import { needs, R, step } from '../support/contracts.js';
import { createDatabase, type TestDatabase } from '../support/database.js';
import { eventually } from '../support/eventually.js';
import { startTestMediator, type TestMediator } from '../support/mediator.js';
import { park } from '../support/parked.js';
import { once } from '../support/failpoints.js';
import { openProxy, type Proxy } from '../support/proxy.js';
import { promotion, show, submitAll } from '../support/queue.js';
import { tell, tries } from '../support/storm.js';
import { Load } from './crashes/load.js';
import { OwnPostgres } from './crashes/own-postgres.js';

jest.setTimeout(tries(120_000, 3_600_000));

/** The reaper comes often, and yet nothing ever runs out because this machine is slow. */
const OFTEN = { MEDIATOR_RENEW_SECONDS: '0.3', MEDIATOR_NOT_AFTER_FACTOR: '1000' };
/** So that a way which swallows everything is noticed within a test. */
const QUICK = { answerSeconds: 1, listenCheckSeconds: 0.2 };

/** What was promised is so, and the line in the storm's table. */
async function expectAllKept(load: Load, what: string, times: number): Promise<void> {
  const { looked, broken } = await load.end();
  tell({ what, times, checked: looked, of: 'promises of answers', lost: broken.length });
  expect(broken).toEqual([]);
  expect(looked).toBeGreaterThan(20);
}

describe('a PostgreSQL that crashes', () => {
  let postgres: OwnPostgres;
  let server: TestMediator;
  beforeAll(async () => {
    postgres = await OwnPostgres.start();
    server = await startTestMediator({ database: postgres.database, env: OFTEN });
  });
  afterAll(async () => {
    await server.stop();
    await postgres.close();
  });

  it('has kept what was promised, and the server goes on by itself where it was', async () => {
    const crashes = tries(1, 20);
    const load = new Load(server, postgres.database);
    load.begin('crash');
    const ready = async (status: number): Promise<unknown> =>
      eventually(`/readyz answers ${status}`, async () => (await server.send('GET', '/readyz')).status === status, 30);
    for (let crash = 1; crash <= crashes; crash++) {
      await load.goesOn(crash * 7);
      await postgres.crash();
      await ready(503);
      expect(await server.send('GET', '/livez')).toMatchObject({ status: 200 });
      await postgres.startAgain();
      await ready(200);
    }
    await load.goesOn(50);
    await expectAllKept(load, 'PostgreSQL crashed and recovered', crashes);
    expect(await server.violations()).toEqual([]);
    expect(load.caller.refused).toBeGreaterThan(0);
  });
});

describe('a way to the database that breaks', () => {
  let database: TestDatabase;
  let proxy: Proxy;
  let server: TestMediator;
  beforeAll(async () => {
    database = await createDatabase();
    proxy = await openProxy(database);
    server = await startTestMediator({ database: proxy.database, env: OFTEN, config: QUICK });
  });
  afterAll(async () => {
    await server.stop();
    await proxy.cut();
    await database.drop();
  });
  afterEach(async () => {
    expect(await server.violations()).toEqual([]);
  });

  it('session by session, whichever it is: nothing is lost, and nobody gets another refusal than 503', async () => {
    const broken = tries(15, 300);
    const load = new Load(server, database);
    load.begin('session');
    for (let times = 1; times <= broken; times++) {
      await load.goesOn(5);
      await database.sql(
        `SELECT pg_terminate_backend(pid) FROM pg_stat_activity
          WHERE datname = current_database() AND application_name LIKE 'mediator%'
          ORDER BY (application_name = 'mediator-listen') = $1 DESC, random() LIMIT 1`,
        [times % 5 === 0],
      );
    }
    await load.goesOn(20);
    await expectAllKept(load, 'a session with the database was ended', broken);
  });

  const WAYS: Record<string, () => Promise<void> | void> = {
    'was cut and restored': async () => {
      await proxy.cut();
      await proxy.restore();
    },
    'swallowed everything': () => proxy.swallow('everything'),
    'swallowed the answers': () => proxy.swallow('answers'),
  };
  it.each(Object.keys(WAYS))('as a whole, where it %s: the same', async (what) => {
    const broken = tries(1, 10);
    const load = new Load(server, database);
    load.begin(what.replaceAll(' ', '-'));
    for (let times = 1; times <= broken; times++) {
      await load.goesOn(3 * times);
      const { refused } = load.caller;
      await WAYS[what]!();
      await eventually('somebody is told to come again', () => load.caller.refused > refused, 30);
      proxy.heal();
    }
    await load.goesOn(20);
    await expectAllKept(load, `the way to the database ${what}`, broken);
  });

  it('by being slow, as long as it answers in time: nobody is told anything', async () => {
    const slow = tries(3, 50);
    const load = new Load(server, database);
    load.begin('slow');
    for (let times = 1; times <= slow; times++) {
      await load.goesOn(10);
      proxy.hold();
      // Seen from the other side: what is on the way stays there.
      await database.sql('SELECT pg_sleep(0.1)');
      proxy.letGo();
    }
    await expectAllKept(load, 'the way to the database was slow', slow);
    expect(load.caller.refused).toBe(0);
  });
});

describe('claims that are parked while the way to the database breaks', () => {
  let database: TestDatabase;
  let proxy: Proxy;
  let server: TestMediator;
  let other: TestMediator;
  beforeAll(async () => {
    database = await createDatabase();
    proxy = await openProxy(database);
    server = await startTestMediator({ database: proxy.database, config: QUICK });
    // It makes steps ready, and has a way of its own: its notice is lost to the first.
    other = await startTestMediator({ database });
    for (const nodeId of ['n1', 'n2']) await other.node(nodeId, [{ role: nodeId }]).advertise();
  });
  afterEach(async () => {
    atFailpoints(undefined);
    expect(await server.violations()).toEqual([]);
  });
  afterAll(async () => {
    await other.stop();
    await server.stop();
    await proxy.cut();
    await database.drop();
  });

  /** A claim of n2 is parked on the first server; `breaks`; then n1 makes its step ready on the other. */
  async function expectGiven(run_id: string, breaks: () => Promise<unknown> | unknown): Promise<void> {
    const steps = [step('one', 'n1'), step('two', 'n2')];
    expect(await submitAll(other, { run_id, requires: [needs('n1'), needs('n2')], steps })).toEqual([201]);
    const { answer } = await park(database, () => server.node('n2').claim(60));
    // What the claim saw has come back by the same way as this.
    expect((await server.send('GET', '/v1/nodes')).status).toBe(200);
    await breaks();
    await other.node('n1').work();
    expect((await answer).body).toMatchObject({ run_id, seq: 2 });
    await other.node('n2').report((await answer).body);
    expect((await show(other, run_id)).state).toBe('SUCCEEDED');
  }

  const listener = `SELECT pg_terminate_backend(pid) FROM pg_stat_activity
    WHERE datname = current_database() AND application_name = 'mediator-listen' AND pid <> ALL ($1)`;

  const claiming = `SELECT pg_terminate_backend(pid) FROM pg_stat_activity
    WHERE datname = current_database() AND state = 'idle in transaction' AND starts_with(query, '/* fleet.lock-node */')`;

  it('get their step when the listening connection was cut off', async () => {
    const cuts = tries(3, 60);
    for (let cut = 1; cut <= cuts; cut++) await expectGiven(`listener-${cut}`, () => database.sql(listener, [[]]));
    tell({ what: 'the listening connection was cut off', times: cuts, checked: cuts, of: 'parked claims', lost: 0 });
  });

  it('get their step when the way swallows what is said, and neither end knows', async () => {
    const times = tries(1, 10);
    for (let time = 1; time <= times; time++) {
      await expectGiven(`deaf-${time}`, () => {
        proxy.swallow('everything');
        proxy.heal();
      });
    }
    tell({ what: 'the listening connection went deaf', times, checked: times, of: 'parked claims', lost: 0 });
  });

  it('get their step when the statement that would give it is broken off, and nobody calls again', async () => {
    const times = tries(2, 20);
    for (let time = 1; time <= times; time++) {
      await expectGiven(`broken-off-${time}`, () =>
        // n1 passes first, when it begins its own step.
        once('claim:fleet.lock-node', () => database.sql(claiming), 2),
      );
    }
    tell({
      what: 'the statement that gives a step was broken off',
      times,
      checked: times,
      of: 'parked claims',
      lost: 0,
    });
  });

  it('a COMMIT whose answer is swallowed: 503 in time, and the next pass makes up for the sweep', async () => {
    const n3 = server.node('n3', [{ role: 'n3' }]);
    await n3.advertise();
    expect(await submitAll(server, R('n3', { run_id: 'held' }), R('n3', { run_id: 'waits' }))).toEqual([201, 202]);
    const { body: claim } = await n3.claim();
    once('report.before-commit', () => proxy.swallow('answers'));
    expect(await within(20, n3.report(claim))).toMatchObject({ status: 503, body: { code: 'unavailable' } });
    proxy.heal();
    expect((await show(other, 'held')).state).toBe('SUCCEEDED');
    await eventually('it works again', async () => (await server.send('GET', '/readyz')).status === 200);
    await eventually('the sweep is made up for', async () => {
      await server.reap();
      return (await promotion(server, 'waits')).state === 'RUNNING';
    });
    expect((await promotion(server, 'waits')).whys).toEqual(['owed']);
    expect((await n3.work()).body).toMatchObject({ run_state: 'SUCCEEDED' });
  });

  it('a stop does not wait for an answer that never comes', async () => {
    const third = await startTestMediator({ database: proxy.database, config: QUICK });
    proxy.swallow('everything');
    await within(10, third.stop());
    proxy.heal();
    expect((await show(other, 'held')).state).toBe('SUCCEEDED');
  });
});

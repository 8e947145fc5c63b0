import { afterAll, afterEach, beforeAll, describe, expect, it, jest } from '@jest/globals';
import { R } from '../support/contracts.js';
import type { TestDatabase } from '../support/database.js';
import { eventually } from '../support/eventually.js';
import { startTestMediator, type TestMediator } from '../support/mediator.js';
import { openProxy, type Proxy } from '../support/proxy.js';
import { tell, tries } from '../support/storm.js';
import { Load } from './crashes/load.js';
import { OwnPostgres } from './crashes/own-postgres.js';
import { ReplicatedPostgres } from './crashes/replicated-postgres.js';

jest.setTimeout(tries(180_000, 3_600_000));

const OFTEN = { MEDIATOR_RENEW_SECONDS: '0.3', MEDIATOR_NOT_AFTER_FACTOR: '1000' };
/** Of acceptance M1: how long everything may take to be served after it could be. */
const HEALED_SECONDS = 5;

describe('two servers of one database, behind a way that leads elsewhere after a fail-over', () => {
  let pair: ReplicatedPostgres;
  let database: TestDatabase;
  let proxy: Proxy;
  const servers: TestMediator[] = [];
  beforeAll(async () => {
    pair = await ReplicatedPostgres.start();
    database = {
      url: pair.primary.url,
      sql: (text, params) => pair.primary.sql(text, params),
      drop: () => pair.close(),
    };
    proxy = await openProxy(database);
    for (let index = 1; index <= 2; index++) {
      const config = { listenCheckSeconds: 0.5, connectionLifeSeconds: 5 };
      servers.push(await startTestMediator({ database: proxy.database, env: OFTEN, config }));
    }
  });
  afterEach(async () => {
    expect(await database.sql('SELECT * FROM invariants')).toEqual([]);
  });
  afterAll(async () => {
    for (const server of servers) await server.stop();
    await proxy.cut();
    await database.drop();
  });

  const allReady = (status: number, seconds: number): Promise<unknown> =>
    eventually(
      `/readyz answers ${status} everywhere`,
      async () => {
        const answers = await Promise.all(servers.map(({ send }) => send('GET', '/readyz')));
        return answers.every((answer) => answer.status === status);
      },
      seconds,
    );

  /** Each leaves the database away, or taking no writes, until what it gives is called. */
  const TROUBLES: Record<string, () => Promise<() => Promise<void>>> = {
    'took no writes for a while': async () => {
      await pair.primary.sql('ALTER SYSTEM SET default_transaction_read_only = on');
      await pair.primary.sql('SELECT pg_reload_conf()');
      return async () => {
        await pair.primary.sql('ALTER SYSTEM RESET default_transaction_read_only');
        await pair.primary.sql('SELECT pg_reload_conf()');
      };
    },
    'was restarted': async () => {
      await pair.primary.stop('SIGINT');
      return () => pair.primary.start();
    },
    'failed over to its standby, which was promoted after it was reached': async () => {
      await pair.losePrimary();
      proxy.leadTo(pair.standby.url);
      return () => pair.promoteStandby();
    },
  };

  it.each(Object.keys(TROUBLES))(
    'M1, P10: nothing is lost where it %s, and everything heals by itself',
    async (what) => {
      const times = tries(1, 10);
      const load = new Load(servers[0]!, database, servers.slice(1));
      load.begin(what.split(' ').slice(0, 2).join('-'));
      let slowestMs = 0;
      for (let time = 1; time <= times; time++) {
        await load.goesOn(30);
        const heal = await TROUBLES[what]!();
        await allReady(503, 30);
        for (const { send } of servers) expect((await send('GET', '/livez')).status).toBe(200);
        await heal();
        const since = performance.now();
        await allReady(200, HEALED_SECONDS);
        slowestMs = Math.max(slowestMs, performance.now() - since);
        await load.goesOn(30);
        if (pair.standby === pair.primary) await pair.addStandby();
      }
      const { looked, broken } = await load.end();
      tell({
        what: `the database of two servers ${what} (healed within ${Math.ceil(slowestMs)} ms)`,
        times,
        checked: looked,
        of: 'promises of answers',
        lost: broken.length,
      });
      expect(broken).toEqual([]);
      expect(looked).toBeGreaterThan(20);
      expect(load.caller.refused).toBeGreaterThan(0);
    },
  );
});

describe('a database whose role wants commits to be answered before they are durable', () => {
  it('M3, P10: what was accepted is there after a crash', async () => {
    const rounds = tries(1, 10);
    const postgres = await OwnPostgres.start();
    const { database } = postgres;
    await database.sql("ALTER SYSTEM SET wal_writer_delay = '2s'");
    await database.sql('SELECT pg_reload_conf()');
    await database.sql('ALTER ROLE mediator SET synchronous_commit = off');
    await database.sql('CHECKPOINT');
    const server = await startTestMediator({ database });
    await server.node('n1', [{ role: 'x' }]).advertise();
    const accepted: string[] = [];
    for (let round = 1; round <= rounds; round++) {
      for (let one = 1; one <= 10; one++) {
        const run_id = `r${round}-${one}`;
        expect([201, 202]).toContain((await server.send('POST', '/v1/runs', { body: R('x', { run_id }) })).status);
        accepted.push(run_id);
      }
      await postgres.crash();
      await postgres.startAgain();
      await eventually('it is ready', async () => (await server.send('GET', '/readyz')).status === 200, 5);
    }
    const there = await database.sql<{ run_id: string }>('SELECT run_id FROM runs');
    const lost = accepted.filter((run_id) => !there.some((row) => row.run_id === run_id));
    tell({
      what: 'PostgreSQL crashed, whose role has synchronous_commit = off',
      times: rounds,
      checked: accepted.length,
      of: 'runs accepted',
      lost: lost.length,
    });
    expect(lost).toEqual([]);
    await server.stop();
    await postgres.close();
  });
});

import { raw } from '../support/raw-statement.js';
import { afterAll, afterEach, beforeAll, describe, expect, it } from '@jest/globals';
import type pg from 'pg';
import { Database } from '../../src/platform/database/database.js';
import { DatabaseUnavailable } from '../../src/platform/sessions/faults.js';
import { R } from '../support/contracts.js';
import { createDatabase, type TestDatabase } from '../support/database.js';
import { eventually } from '../support/eventually.js';
import { emptyForRole } from '../support/foreign-role.js';
import { startTestMediator, type TestMediator } from '../support/mediator.js';
import { show } from '../support/queue.js';
import { toEverySession } from '../support/spoil.js';

const POOL = 4;

/** The server processes of a server's connections. */
async function pids({ sql }: TestDatabase, name = 'mediator'): Promise<number[]> {
  const rows = await sql<{ pid: number }>(
    'SELECT pid FROM pg_stat_activity WHERE datname = current_database() AND application_name = $1',
    [name],
  );
  return rows.map(({ pid }) => pid);
}

const BY_NAME = `SELECT name FROM pg_prepared_statements WHERE name <> ''`;

/** How a session goes bad that lies in the pool. */
const WAYS: Record<string, (client: pg.ClientBase) => Promise<unknown>> = {
  '25006: it only reads': (client) => client.query('SET default_transaction_read_only = on'),
  '26000: it has forgotten what was prepared': (client) => client.query('DEALLOCATE ALL'),
  '42P05: it has prepared what nobody remembers': async (client) => {
    (client as unknown as { connection: { parsedStatements: object } }).connection.parsedStatements = {};
  },
  '08P01: it has prepared something else by the name': async (client) => {
    const { rows } = await client.query<{ name: string }>(BY_NAME);
    await client.query('DEALLOCATE ALL');
    for (const { name } of rows) await client.query(`PREPARE "${name}" (int, int) AS SELECT $1 + $2`);
  },
  '25P02: it was left in a transaction that has failed': async (client) => {
    await client.query('START TRANSACTION');
    await client.query('SELECT 1 / 0').catch(() => undefined);
  },
};

describe('a session that went bad', () => {
  let server: TestMediator;
  let round = 0;
  beforeAll(async () => {
    server = await startTestMediator({ env: { MEDIATOR_DB_POOL_SIZE: String(POOL) } });
    await server.node('n1', [{ role: 'x' }]).advertise();
  });
  afterEach(async () => {
    expect(await server.violations()).toEqual([]);
  });
  afterAll(() => server.close());

  /** A write, a read, and whether it is ready, several of each at once. */
  const useAll = async (): Promise<number[]> => {
    round += 1;
    const asks = Array.from({ length: POOL }, (_, index) => [
      server.send('POST', '/v1/runs', { body: R('x', { run_id: `r${round}-${index}` }) }),
      server.send('GET', '/v1/runs'),
      server.send('GET', '/readyz'),
    ]);
    return (await Promise.all(asks.flat())).map(({ status }) => status);
  };

  it.each(Object.keys(WAYS))('M2: %s: it is thrown away, and another does what was asked', async (way) => {
    expect(Math.max(...(await useAll()))).toBeLessThan(300);
    await toEverySession(server, POOL, WAYS[way]!);
    const bad = await pids(server.database);
    expect(Math.max(...(await useAll()))).toBeLessThan(300);
    // Whoever was not asked meanwhile may be bad still: nobody notices.
    for (let again = 1; again <= POOL; again++) expect(Math.max(...(await useAll()))).toBeLessThan(300);
    expect((await pids(server.database)).filter((pid) => !bad.includes(pid)).length).toBeGreaterThan(0);
  });

  it('M2: a prepared statement whose result type has changed fails for nobody', async () => {
    const { sql } = server.database;
    expect(Math.max(...(await useAll()))).toBeLessThan(300);
    await sql('DROP VIEW invariants');
    await sql('ALTER TABLE runs ALTER COLUMN principal TYPE varchar');
    const asks = Array.from({ length: 3 * POOL }, () => server.send('GET', '/v1/runs/r1-0'));
    expect((await Promise.all(asks)).map(({ status }) => status)).toEqual(asks.map(() => 200));
    expect(Math.max(...(await useAll()))).toBeLessThan(300);
    await sql('ALTER TABLE runs ALTER COLUMN principal TYPE text');
    await sql("CREATE VIEW invariants AS SELECT ''::text AS rule WHERE false");
    expect(Math.max(...(await useAll()))).toBeLessThan(300);
  });

  it('is not given back: a transaction that fails in the middle leaves none behind', async () => {
    const database = server.mediator.app.get(Database);
    const failing = database.transaction('test', (tx) => tx.ask(raw('SELECT 1 / 0')));
    await expect(failing).rejects.toMatchObject({ code: '22012' });
    const rows = await database.ask(
      raw('SELECT xact_start = query_start AS alone FROM pg_stat_activity WHERE pid = pg_backend_pid()'),
    );
    expect(rows).toEqual([{ alone: true }]);
  });

  it('a statement that no session can carry out is a fault of ours, and is not tried for ever', async () => {
    const database = server.mediator.app.get(Database);
    const asked = database.ask(raw('/* test.impossible */ SELECT count(*) FROM runs FOR UPDATE'));
    await expect(asked).rejects.toMatchObject({ code: '0A000' });
    await expect(asked).rejects.not.toBeInstanceOf(DatabaseUnavailable);
  });
});

describe('a database that takes no writes for a while', () => {
  it('M1: /readyz and all that writes are 503 meanwhile, and within 5 s afterwards everything is served', async () => {
    const server = await startTestMediator({ config: { listenCheckSeconds: 0.2 } });
    const { sql, url } = server.database;
    const name = /\/([^/?]+)(\?|$)/.exec(url)![1]!;
    const end = `SELECT pg_terminate_backend(pid) FROM pg_stat_activity
                  WHERE datname = current_database() AND application_name LIKE 'mediator%'`;
    await server.node('n1', [{ role: 'x' }]).advertise();
    await sql(`ALTER DATABASE ${name} SET default_transaction_read_only = on`);
    await sql(end);
    const ready = await eventually('it is not ready', async () => {
      const answer = await server.send('GET', '/readyz');
      return answer.status === 503 && answer;
    });
    expect(ready.body.error).toMatchObject({ database: { status: 'down' } });
    expect((await server.send('POST', '/v1/runs', { body: R('x', { run_id: 'a' }) })).status).toBe(503);
    expect((await server.node('n2').advertise()).status).toBe(503);
    expect((await server.send('GET', '/readyz')).body.error.database.message).toBe('takes no writes');
    expect((await server.send('GET', '/livez')).status).toBe(200);
    await sql(`SET default_transaction_read_only = off; ALTER DATABASE ${name} RESET default_transaction_read_only`);
    await eventually('it is ready', async () => (await server.send('GET', '/readyz')).status === 200, 5);
    expect((await server.send('POST', '/v1/runs', { body: R('x', { run_id: 'a' }) })).status).toBe(201);
    expect((await server.node('n1').work()).body).toMatchObject({ run_state: 'SUCCEEDED' });
    await eventually('it listens again', async () => (await pids(server.database, 'mediator-listen')).length === 1, 5);
    await server.close();
  });
});

describe('the life of a connection', () => {
  let server: TestMediator;
  beforeAll(async () => {
    server = await startTestMediator({ config: { connectionLifeSeconds: 0.5 } });
  });
  afterAll(() => server.close());

  it.each(['mediator', 'mediator-listen'])('ends for each of %s, and another takes its place', async (name) => {
    expect((await server.send('GET', '/v1/runs')).status).toBe(200);
    const old = await pids(server.database, name);
    await eventually('all are new', async () => {
      expect((await server.send('GET', '/v1/runs')).status).toBe(200);
      const now = await pids(server.database, name);
      return now.length > 0 && now.every((pid) => !old.includes(pid));
    });
  });

  it('does not end while it is in use', async () => {
    const database = server.mediator.app.get(Database);
    const slow = database.transaction('test', async (tx) => {
      const rows = await tx.ask(raw('SELECT pg_backend_pid() AS pid FROM pg_sleep(1)'));
      return [rows, await tx.ask(raw('SELECT pg_backend_pid() AS pid'))];
    });
    const [first, second] = await slow;
    expect(second).toEqual(first);
  });
});

describe('a database with few free slots', () => {
  it('adverts wait for a connection that works, and are not refused', async () => {
    const database = await createDatabase();
    const role = await emptyForRole(database, { attributes: 'CONNECTION LIMIT 4' });
    const server = await startTestMediator({ database: role.database });
    const adverts = Array.from({ length: 40 }, (_, index) => server.node(`n${index}`, [{ role: 'x' }]).advertise());
    expect(new Set((await Promise.all(adverts)).map(({ status }) => status))).toEqual(new Set([200]));
    expect((await pids(database)).length).toBeLessThanOrEqual(3);
    // When there is room again it is used.
    await database.sql(`ALTER ROLE ${role.name} CONNECTION LIMIT -1`);
    await eventually('more connections are made', async () => {
      const more = Array.from({ length: 40 }, (_, index) => server.node(`n${index}`, [{ role: 'x' }]).advertise());
      expect(new Set((await Promise.all(more)).map(({ status }) => status))).toEqual(new Set([200]));
      return (await pids(database)).length > 3;
    });
    await server.stop();
    await role.drop();
    await database.drop();
  });

  it('with none at all: 503, and everything is served when there is one', async () => {
    const database = await createDatabase();
    const role = await emptyForRole(database);
    const server = await startTestMediator({ database: role.database });
    expect((await server.send('POST', '/v1/runs', { body: R('y', { run_id: 'a' }) })).status).toBe(422);
    await database.sql(`ALTER ROLE ${role.name} CONNECTION LIMIT 0`);
    await database.sql('SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE usename = $1', [role.name]);
    await eventually('it is refused', async () => (await server.send('GET', '/v1/runs/a')).status === 503);
    await database.sql(`ALTER ROLE ${role.name} CONNECTION LIMIT -1`);
    await eventually('it is served', async () => (await server.send('GET', '/v1/runs/a')).status === 200, 5);
    expect((await show(server, 'a')).state).toBe('FAILED');
    await server.stop();
    await role.drop();
    await database.drop();
  });
});

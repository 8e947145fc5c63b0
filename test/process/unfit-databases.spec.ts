import { afterAll, afterEach, beforeAll, describe, expect, it, jest } from '@jest/globals';
import { once } from 'node:events';
import { createServer } from 'node:net';
import { faultsOfDatabaseUrl } from '../../src/platform/config/database-url.js';
import { createDatabase, type TestDatabase } from '../support/database.js';
import { emptyForRole, type ForeignRole } from '../support/foreign-role.js';
import { openProxy, type Proxy } from '../support/proxy.js';
import { eventually } from '../support/eventually.js';
import { spawnServer } from '../support/spawned-server.js';

jest.setTimeout(60_000);

/** sysexits.h: EX_CONFIG. */
const EXIT_CONFIG = 78;

describe('a database on which no Mediator can work', () => {
  let database: TestDatabase;
  let role: ForeignRole;
  beforeAll(async () => {
    database = await createDatabase();
    role = await emptyForRole(database);
  });
  afterEach(async () => {
    await database.sql('DROP SCHEMA IF EXISTS public CASCADE');
    await database.sql(`CREATE SCHEMA public AUTHORIZATION ${role.name}`);
  });
  afterAll(async () => {
    await role.drop();
    await database.drop();
  });

  /** The sentence with which it refuses to start. */
  const refused = async (url: string): Promise<string> => {
    const server = spawnServer({ DATABASE_URL: url });
    const code = await server.exited;
    // What the database says of what it does not take is no line of the log, nor is anything else.
    const [line, ...others] = server.output().trimEnd().split('\n');
    expect({ code, others, line }).toMatchObject({ code: EXIT_CONFIG, others: [] });
    expect(line).not.toContain('secret');
    return line!;
  };
  const ownUrl = (): string => role.database.url;

  it('M6: one that is newer than the program', async () => {
    await database.sql(
      `CREATE TABLE migrations (id serial PRIMARY KEY, timestamp bigint NOT NULL, name varchar NOT NULL);
       INSERT INTO migrations (timestamp, name) VALUES (1890000000001, 'Later1890000000001');
       ALTER TABLE migrations OWNER TO ${role.name}`,
    );
    expect(await refused(ownUrl())).toBe(
      'the database is newer than this program (it has had Later1890000000001): ' +
        'start the version that migrated it, or a later one',
    );
  });

  it('M6: one in LATIN1', async () => {
    const name = `latin_${process.pid}`;
    await database.sql(`CREATE DATABASE ${name} ENCODING 'LATIN1' LOCALE 'C' TEMPLATE template0`);
    expect(await refused(database.url.replace(/\/[^/?]*(\?|$)/, `/${name}$1`))).toMatch(
      /^the database has the encoding LATIN1: the Mediator needs UTF8; .*CREATE DATABASE/,
    );
    await database.sql(`DROP DATABASE ${name}`);
  });

  it('M6: one that is not there, and a role that is not there', async () => {
    expect(await refused(ownUrl().replace(/\/[^/?]*(\?|$)/, '/nowhere$1'))).toMatch(
      /database "nowhere" does not exist; create it/,
    );
    expect(await refused(ownUrl().replace(role.name, 'nobody_here'))).toMatch(
      /role "nobody_here" does not exist; see to the user and password/,
    );
  });

  it('M6: a role without the right to make tables, to connect, or to what was made', async () => {
    await database.sql('ALTER SCHEMA public OWNER TO CURRENT_USER');
    expect(await refused(ownUrl())).toMatch(/permission denied for schema public; the user in DATABASE_URL needs/);
    await database.sql('CREATE TABLE public.runs (run_id text)');
    await database.sql('GRANT ALL ON SCHEMA public TO public');
    expect(await refused(ownUrl())).toMatch(/relation "runs" already exists; somebody else/);
    await database.sql('DROP SCHEMA public CASCADE');
    expect(await refused(ownUrl())).toMatch(/; create the schema public/);
  });

  it('M6: a role that may only read what another has migrated', async () => {
    const other = await createDatabase();
    await other.sql(`GRANT USAGE, CREATE ON SCHEMA public TO ${role.name}`);
    await other.sql(`GRANT SELECT ON ALL TABLES IN SCHEMA public TO ${role.name}`);
    const url = other.url.replace(/\/\/[^@/]*@/, `//${role.name}:secret@`);
    expect(await refused(url)).toMatch(/permission denied for table .*; the user in DATABASE_URL needs/);
    await other.sql(`DROP OWNED BY ${role.name}`);
    await other.drop();
  });

  it('M6: options that PostgreSQL does not know, and triggers that do not fire', async () => {
    const and = (options: string): string =>
      `${ownUrl()}${ownUrl().includes('?') ? '&' : '?'}options=${encodeURIComponent(options)}`;
    expect(await refused(and('-c no_such_setting=1'))).toMatch(/no_such_setting.*see to "options" in DATABASE_URL/);
    await database.sql(`ALTER ROLE ${role.name} SET session_replication_role = replica`);
    expect(await refused(ownUrl())).toMatch(/session_replication_role = replica.*reset it/);
    await database.sql(`ALTER ROLE ${role.name} RESET session_replication_role`);
  });

  it('M6: a server that speaks no TLS where the URL asks for it', async () => {
    const proxy = await openProxy(role.database);
    expect(await refused(`${proxy.database.url}?ssl=true`)).toMatch(
      /does not support SSL connections; see to DATABASE_URL/,
    );
    await proxy.cut();
  });

  it.each([
    'postgres://me:se#cret@host/db',
    'postgres://me:secret%e9@host/db',
    'postgres://me:secret%zz@host/db',
    'postgres://me:secret%@host/db',
    'postgres://me%zz:secret@host/db',
    'postgres://me:secret%00@host/db',
    'postgres://me%00:secret@host/db',
    'postgres://me:secret@host/db%00',
    'postgres://me:secret@host:port/db',
    'postgres://me:secret@host:70000/db',
    'postgres://me:secret@host/db?port=none',
    'postgres://me:secret@host/db?sslrootcert=/nowhere.pem',
    'mysql://me:secret@host/db',
  ])('M6: %s is refused, without a word of the password', (url) => {
    const [fault, ...others] = faultsOfDatabaseUrl(url);
    expect(others).toEqual([]);
    expect(fault).toMatch(/^DATABASE_URL must /);
    expect(fault).not.toMatch(/cret/);
  });

  it.each(['postgres://me@/db?host=%2Ftmp', 'postgresql://h', 'postgres://me:s%40@[::1]:5433/db'])(
    '%s is fine',
    (url) => {
      expect(faultsOfDatabaseUrl(url)).toEqual([]);
    },
  );
});

describe('a database that is away while the server starts', () => {
  let database: TestDatabase;
  let proxy: Proxy;
  beforeAll(async () => {
    database = await createDatabase();
    proxy = await openProxy(database);
  });
  afterAll(() => database.drop());

  it('is told of when that changes, and not at every try', async () => {
    await proxy.cut();
    const server = spawnServer({ DATABASE_URL: proxy.database.url });
    const lines = (): string[] =>
      server
        .output()
        .split('\n')
        .filter((line) => line.includes('does not answer yet'));
    await eventually('it is told', () => lines().length === 1);
    const refusing = await openRefusing(new URL(proxy.database.url).port);
    await eventually('it has tried for a while', () => refusing.tries() > 6);
    // One line for what was so at first, and one for what is so now.
    expect(lines()).toHaveLength(2);
    await refusing.close();
    await proxy.restore();
    expect(await server.url()).toMatch(/^http/);
    expect(await server.stop()).toBe(0);
    await proxy.cut();
  });
});

/** A server at this port that ends each connection at once, and counts them. */
async function openRefusing(port: string): Promise<{ tries(): number; close(): Promise<void> }> {
  let tries = 0;
  const server = createServer((socket) => {
    tries += 1;
    socket.on('error', () => undefined);
    socket.resume().end();
  });
  server.listen(Number(port), '127.0.0.1');
  await once(server, 'listening');
  return {
    tries: () => tries,
    close: async () => {
      server.close();
      await once(server, 'close');
    },
  };
}

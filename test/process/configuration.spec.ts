import { afterAll, afterEach, beforeAll, describe, expect, it } from '@jest/globals';
import { createDatabase, type TestDatabase } from '../support/database.js';
import { sender } from '../support/http.js';
import { spawnServer } from '../support/spawned-server.js';

/** sysexits.h: EX_CONFIG. */
const EXIT_CONFIG = 78;

describe('the configuration', () => {
  let database: TestDatabase;
  beforeAll(async () => {
    database = await createDatabase();
  });
  afterEach(async () => {
    expect(await database.sql('SELECT * FROM invariants')).toEqual([]);
  });
  afterAll(() => database.drop());

  /** Starts with this environment, which must be refused; gives the lines it wrote. */
  const refused = async (env: Record<string, string>): Promise<string[]> => {
    const server = spawnServer({ DATABASE_URL: database.url, ...env });
    expect(await server.exited).toBe(EXIT_CONFIG);
    return server.output().trimEnd().split('\n');
  };

  it('every fault is named at once, a line each, and the process exits with 78', async () => {
    const faulty = {
      DATABASE_URL: 'mysql://localhost/x',
      PORT: '65536',
      MEDIATOR_TOKENS_FILE: '/etc/tokens.json',
      MEDIATOR_INSECURE: 'yes',
      MEDIATOR_LEASE_TTL_SECONDS: '0',
      MEDIATOR_RENEW_SECONDS: '2147484',
      MEDIATOR_NOT_AFTER_FACTOR: '1.9',
      MEDIATOR_MAX_LEASES_PER_RUN: '-1',
      MEDIATOR_DB_POOL_SIZE: 'ten',
      LOG_LEVEL: 'loud',
    };
    const lines = await refused(faulty);
    const [first = ''] = lines;
    expect(first).toMatch(/^[A-Z_]+ /);
    expect(lines.map((line) => line.split(' ')[0]).sort()).toEqual(Object.keys(faulty).sort());
  });

  it.each([
    ['MEDIATOR_LEASE_TTL_SECONDS', '-1'],
    ['MEDIATOR_RENEW_SECONDS', '0'],
    ['MEDIATOR_RENEW_SECONDS', '1e3'],
    ['MEDIATOR_NOT_AFTER_FACTOR', 'NaN'],
  ])('%s=%s is refused by itself, with what would be right', async (name, value) => {
    const lines = await refused({ [name]: value });
    expect(lines).toEqual([expect.stringMatching(new RegExp(`^${name} must be a number .*; it is "${value}"$`))]);
  });

  it('MEDIATOR_TOKENS_FILE is refused while no tokens are known, rather than let everybody in', async () => {
    const lines = await refused({ MEDIATOR_TOKENS_FILE: '/etc/tokens.json' });
    expect(lines).toEqual([expect.stringMatching(/^MEDIATOR_TOKENS_FILE .*everybody.*Unset it/)]);
  });

  it.each(['0.0.0.0', '::', '192.168.1.1', 'bench.example.org'])(
    'F5 open mode on %s, which is not loopback, refuses to start with a clear message',
    async (HOST) => {
      const lines = await refused({ HOST });
      expect(lines).toHaveLength(1);
      expect(lines[0]).toMatch(/^HOST .*everybody is operator.*127\.0\.0\.1.*MEDIATOR_INSECURE=true/);
      expect(lines[0]).toContain(JSON.stringify(HOST));
    },
  );

  it('F5 it starts there where that is said to be meant, and everybody is operator', async () => {
    const server = spawnServer({ DATABASE_URL: database.url, HOST: '0.0.0.0', MEDIATOR_INSECURE: 'true' });
    const send = sender((await server.url()).replace('0.0.0.0', '127.0.0.1'));
    expect((await send('GET', '/v1/runs')).status).toBe(200);
    expect(await server.stop()).toBe(0);
  });
});

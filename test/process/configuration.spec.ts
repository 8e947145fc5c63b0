import { chmodSync, chownSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, afterEach, beforeAll, describe, expect, it, jest } from '@jest/globals';
import { type ConfigError, readConfig } from '../../src/platform/config/read-config.js';
import { createDatabase, type TestDatabase } from '../support/database.js';
import { sender } from '../support/http.js';
import { TokensFile } from '../support/tokens.js';
import { spawnServer, type SpawnedServer } from '../support/spawned-server.js';

// The start of a process takes a second, and more where the machine is busy.
jest.setTimeout(60_000);

/** sysexits.h: EX_CONFIG. */
const EXIT_CONFIG = 78;

describe('the configuration', () => {
  let database: TestDatabase;
  const spawned: SpawnedServer[] = [];
  beforeAll(async () => {
    database = await createDatabase();
  });
  afterEach(async () => {
    for (const server of spawned.splice(0)) server.child.kill('SIGKILL');
    expect(await database.sql('SELECT * FROM invariants')).toEqual([]);
  });
  afterAll(() => database.drop());

  const start = (env: Record<string, string>): SpawnedServer => {
    const server = spawnServer({ DATABASE_URL: database.url, ...env });
    spawned.push(server);
    return server;
  };
  /** Starts with this environment, which must be refused; gives the lines it wrote. */
  const refused = async (env: Record<string, string>): Promise<string[]> => {
    const server = start(env);
    const code = await server.exited;
    expect({ code, output: server.output() }).toMatchObject({ code: EXIT_CONFIG });
    return server.output().trimEnd().split('\n');
  };
  const faults = (env: Record<string, string>): string[] => {
    try {
      readConfig(env);
      return [];
    } catch (error) {
      return (error as ConfigError).faults;
    }
  };

  it('every fault is named at once, a line each, and the process exits with 78', async () => {
    const faulty = {
      DATABASE_URL: 'mysql://localhost/x',
      PORT: '65536',
      MEDIATOR_TOKENS_FILE: '/nowhere/tokens.json',
      MEDIATOR_INSECURE: 'yes',
      MEDIATOR_LEASE_TTL_SECONDS: '0',
      MEDIATOR_RENEW_SECONDS: 'soon',
      MEDIATOR_NOT_AFTER_FACTOR: '1.9',
      MEDIATOR_MAX_LEASES_PER_RUN: '-1',
      MEDIATOR_ASK_WEBHOOK_URL: 'ftp://hooks.example.org/asks',
      MEDIATOR_DB_POOL_SIZE: 'ten',
      MEDIATOR_RATE_LIMIT_PER_SECOND: '-1',
      MEDIATOR_STOP_SECONDS: '-0.1',
      MEDIATOR_LINGER_SECONDS: '5m',
      LOG_LEVEL: 'loud',
    };
    const lines = await refused(faulty);
    expect(lines.map((line) => line.split(' ')[0]).sort()).toEqual(Object.keys(faulty).sort());
    expect(lines.every((line) => / must /.test(line))).toBe(true);
  });

  it.each(['hooks.example.org', 'https://me:hidden@hooks.example.org/', ''])(
    'a webhook at %j cannot be posted to: it is refused, without a word of the secret',
    async (url) => {
      const env = { MEDIATOR_ASK_WEBHOOK_URL: url, MEDIATOR_ASK_WEBHOOK_SECRET: 'hidden' };
      const [line, ...others] = await refused(env);
      expect(others).toEqual([]);
      // A secret without a place to post to is a fault of its own.
      expect(line).toMatch(
        url === '' ? /^MEDIATOR_ASK_WEBHOOK_SECRET .*_URL/ : /^MEDIATOR_ASK_WEBHOOK_URL must be an http/,
      );
      expect(line).not.toContain('hidden');
    },
  );

  it('a first life of leases that is shorter than renew × factor is refused, with the numbers', async () => {
    const env = { MEDIATOR_LEASE_TTL_SECONDS: '100.5', MEDIATOR_RENEW_SECONDS: '40', PORT: 'x' };
    expect(await refused(env)).toEqual([
      expect.stringMatching(/^PORT must /),
      expect.stringMatching(
        /^MEDIATOR_LEASE_TTL_SECONDS is 100\.5 and must be at least 120, .*MEDIATOR_RENEW_SECONDS 40 .*MEDIATOR_NOT_AFTER_FACTOR 3:/,
      ),
    ]);
  });

  it.each([
    ['3600', '1200.5', '3', 'refused'],
    ['3600', '1200', '3', 'taken'],
    ['3.3', '1.1', '3', 'taken'],
    ['0.25', '0.1', '2.5', 'taken'],
    ['0.24', '0.1', '2.5', 'refused'],
    // Its default is no better than what is given.
    ['', '3600', '', 'refused'],
  ])('a first life of %j s for a period of %j s times %j: %s', (ttl, renew, factor, outcome) => {
    const env = {
      MEDIATOR_LEASE_TTL_SECONDS: ttl,
      MEDIATOR_RENEW_SECONDS: renew,
      MEDIATOR_NOT_AFTER_FACTOR: factor,
    };
    expect(faults(env)).toHaveLength(outcome === 'taken' ? 0 : 1);
  });

  it('all seconds take fractions', () => {
    const env = {
      MEDIATOR_LEASE_TTL_SECONDS: '0.75',
      MEDIATOR_RENEW_SECONDS: '0.25',
      MEDIATOR_STOP_SECONDS: '0.5',
      MEDIATOR_LINGER_SECONDS: '1.5',
    };
    expect(readConfig(env)).toMatchObject({
      leaseTtlSeconds: 0.75,
      renewSeconds: 0.25,
      stopSeconds: 0.5,
      lingerSeconds: 1.5,
    });
    expect(readConfig({})).toMatchObject({ stopSeconds: 25, lingerSeconds: 0 });
  });

  it('a tokens file with faults is refused beside what else is wrong: each fault is a line, and no line repeats the file', async () => {
    const file = new TokensFile();
    file.write([{ name: 'ann', role: 'boss', sha256: 'hidden-by-mistake' }, 'hidden too']);
    const lines = await refused({ MEDIATOR_TOKENS_FILE: file.path, PORT: 'x' });
    const begins = `MEDIATOR_TOKENS_FILE ${file.path}`;
    expect(lines).toEqual([
      `${begins} /0/role must be one of submitter, node, operator`,
      `${begins} /0/sha256 must be the SHA-256 of the token, 64 hexadecimal digits`,
      `${begins} /1 must be an object`,
      expect.stringMatching(/^PORT must /),
    ]);
    file.remove();
  });

  it('with tokens it listens where others can reach it', () => {
    const file = new TokensFile();
    file.add({ name: 'ann', role: 'operator' });
    expect(faults({ HOST: '0.0.0.0', MEDIATOR_TOKENS_FILE: file.path })).toEqual([]);
    file.remove();
  });

  it('MEDIATOR_INSECURE beside tokens makes no sense, and is refused', () => {
    const file = new TokensFile();
    file.add({ name: 'ann', role: 'operator' });
    expect(faults({ MEDIATOR_INSECURE: 'true', MEDIATOR_TOKENS_FILE: file.path })).toEqual([
      expect.stringMatching(/^MEDIATOR_INSECURE must not be true beside MEDIATOR_TOKENS_FILE/),
    ]);
    file.remove();
  });

  it('F5 open mode on an address that is not loopback refuses to start with a clear message', async () => {
    const lines = await refused({ HOST: '0.0.0.0' });
    expect(lines).toEqual([
      expect.stringMatching(/^HOST is "0\.0\.0\.0".*everybody is operator.*127\.0\.0\.1.*MEDIATOR_INSECURE=true/),
    ]);
  });

  it('F5 it starts there where that is said to be meant, and everybody is operator', async () => {
    const server = start({ HOST: '0.0.0.0', MEDIATOR_INSECURE: 'true' });
    const url = await server.url();
    const send = sender(`http://127.0.0.1:${new URL(url).port}`);
    expect((await send('GET', '/v1/runs')).status).toBe(200);
    expect(await server.stop()).toBe(0);
  });

  it.each(['::', '192.168.1.1', '128.0.0.1', '127.0.0.1.example.org', 'bench', '::ffff:10.0.0.1'])(
    'F5 %s is not loopback',
    (HOST) => {
      expect(faults({ HOST })).toEqual([expect.stringMatching(/^HOST /)]);
      expect(faults({ HOST, MEDIATOR_INSECURE: 'true' })).toEqual([]);
    },
  );

  it.each(['127.0.0.1', '127.9.9.9', '::1', 'localhost', ''])('F5 %j is', (HOST) => {
    expect(faults({ HOST })).toEqual([]);
  });

  it.each([
    ['MEDIATOR_LEASE_TTL_SECONDS', '-1'],
    ['MEDIATOR_RENEW_SECONDS', '0'],
    ['MEDIATOR_RENEW_SECONDS', '1e3'],
    // A timer that is set for longer than 2^31 - 1 ms fires at once.
    ['MEDIATOR_RENEW_SECONDS', '2147484'],
    ['MEDIATOR_NOT_AFTER_FACTOR', 'NaN'],
  ])('%s=%s is refused, with what would be right', (name, value) => {
    expect(faults({ [name]: value })).toEqual([
      expect.stringMatching(new RegExp(`^${name} must be a number .*; it is "${value}"$`)),
    ]);
  });

  it('a tokens file that others may write to is refused, and a sentence says so', async () => {
    const tokens = new TokensFile();
    try {
      tokens.add({ name: 'ann', role: 'submitter' });
      chmodSync(tokens.path, 0o666);
      expect(await refused({ MEDIATOR_TOKENS_FILE: tokens.path, PORT: '0' })).toEqual([
        `MEDIATOR_TOKENS_FILE ${tokens.path} must not be writable by others: chmod go-w it`,
      ]);
      chmodSync(tokens.path, 0o644);
      expect(faults({ MEDIATOR_TOKENS_FILE: tokens.path })).toEqual([]);
    } finally {
      tokens.remove();
    }
  });

  // Only root can give a folder to somebody else.
  const asRoot = process.getuid?.() === 0 ? describe : describe.skip;
  asRoot('as root', () => {
    it('a data directory of somebody else is refused, and a sentence says so', async () => {
      const folder = mkdtempSync(join(tmpdir(), 'mediator-foreign-'));
      try {
        chownSync(folder, 4711, 4711);
        const [line, ...more] = await refused({ DATABASE_URL: '', MEDIATOR_DATA_DIR: folder, PORT: '0' });
        expect(line).toMatch(/^The data directory \S+ belongs to somebody else than \w+, or is a link\. Give it to/);
        expect(more).toEqual([]);
      } finally {
        rmSync(folder, { recursive: true });
      }
    });
  });
});

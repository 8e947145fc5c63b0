import { afterAll, beforeAll, describe, expect, it, jest } from '@jest/globals';
import { spawn } from 'node:child_process';
import { closeSync, existsSync, mkdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { hostname } from 'node:os';
import { join } from 'node:path';
import { EmbeddedInUseError } from '../../src/platform/embedded/embedded-error.js';
import { openLocked } from '../../src/platform/embedded/locks.js';
import { startEmbedded } from '../../src/platform/embedded/start-embedded.js';
import { eventually, sql, Workshop } from './workshop.js';

jest.setTimeout(30_000);

describe('a data directory in use', () => {
  let shop: Workshop;
  beforeAll(async () => void (shop = await new Workshop().open()));
  afterAll(() => shop.close());

  it('by another Mediator is refused with its pid, and the other is not disturbed', async () => {
    const dataDir = shop.filled('taken');
    const owner = shop.owner(dataDir);
    const { started } = await owner.outcome;
    const before = readFileSync(join(dataDir, 'postgres.log'), 'utf8');
    const refusal = await startEmbedded({ dataDir }).catch((error: unknown) => error);
    expect(refusal).toBeInstanceOf(EmbeddedInUseError);
    expect(refusal).toMatchObject({ pid: owner.pid, location: dataDir });
    expect((refusal as Error).message).toContain(`in use by another Mediator (pid ${owner.pid})`);
    expect(await sql(started!.url, 'SELECT what FROM kept')).toHaveLength(1);
    expect(readFileSync(join(dataDir, 'postgres.log'), 'utf8')).toBe(before);

    owner.child.stdin!.end();
    expect(await owner.gone).toEqual([0, null]);
    await (await startEmbedded({ dataDir, settings: { fsync: 'off' } })).stop();
  });

  it('is given to one of several who start at once, even over the traces of a dead one', async () => {
    const dataDir = shop.filled('raced');
    writeFileSync(join(dataDir, 'owner.lock'), `${process.pid} elsewhere\n`);
    const racers = [1, 2, 3, 4].map(() => shop.owner(dataDir));
    const outcomes = await Promise.all(racers.map(({ outcome }) => outcome));
    const winner = racers[outcomes.findIndex(({ started }) => started)]!;
    const refusals = outcomes.filter(({ failed }) => failed).map(({ failed }) => failed!);
    expect(refusals.map(({ name }) => name)).toEqual(Array(3).fill('EmbeddedInUseError'));
    expect(refusals.every(({ message }) => message.includes(`(pid ${winner.pid})`))).toBe(true);
    winner.child.stdin!.end();
    expect(await winner.gone).toEqual([0, null]);
  });

  it('names who has it, not who had it before on another machine', async () => {
    const dataDir = shop.path('just-taken');
    mkdirSync(dataDir);
    const path = join(dataDir, 'owner.lock');
    writeFileSync(path, '1 elsewhere\n');
    const lock = openLocked(path)!;
    // It has looked once when this returns; only then the holder writes its pid.
    const refusal = startEmbedded({ dataDir });
    writeFileSync(path, `${process.pid} ${hostname()}\n`);
    await expect(refusal).rejects.toMatchObject({ pid: process.pid });
    await expect(refusal).rejects.toThrow(`in use by another Mediator (pid ${process.pid})`);
    closeSync(lock);
  });

  it('names the machine that has it', async () => {
    const dataDir = shop.path('taken-elsewhere');
    mkdirSync(dataDir);
    const path = join(dataDir, 'owner.lock');
    writeFileSync(path, '1 elsewhere\n');
    const lock = openLocked(path)!;
    await expect(startEmbedded({ dataDir })).rejects.toThrow('in use by another Mediator on elsewhere (pid 1)');
    closeSync(lock);
  });

  it('by a server started by hand is refused, too', async () => {
    const dataDir = shop.filled('by-hand');
    const cluster = join(dataDir, 'postgres-18');
    const { uid, gid } = statSync(cluster);
    const socket = join(dataDir, 'socket');
    const args = ['-D', cluster, '-k', socket, '-c', 'listen_addresses='];
    const command = join(shop.native, 'bin/postgres');
    const server = spawn(command, args, { uid, gid, cwd: '/', stdio: 'ignore' });
    const pidFile = join(cluster, 'postmaster.pid');
    await eventually(() => existsSync(pidFile) && readFileSync(pidFile, 'utf8').includes('ready'));
    await expect(startEmbedded({ dataDir })).rejects.toMatchObject({ name: 'EmbeddedInUseError', pid: server.pid });
    const gone = new Promise((done) => server.once('exit', done));
    server.kill('SIGINT');
    await gone;
    await (await startEmbedded({ dataDir, settings: { fsync: 'off' } })).stop();
  });
});

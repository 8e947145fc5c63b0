import { afterAll, beforeAll, describe, expect, it, jest } from '@jest/globals';
import { spawn } from 'node:child_process';
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { startEmbedded } from '../../src/platform/embedded/start-embedded.js';
import { eventually, processesNaming, sql, Workshop } from './workshop.js';

jest.setTimeout(30_000);

describe('after a crash', () => {
  let shop: Workshop;
  beforeAll(async () => void (shop = await new Workshop().open()));
  afterAll(() => shop.close());

  const start = (dataDir: string, log: (line: string) => void = () => undefined) =>
    startEmbedded({ dataDir, settings: { fsync: 'off' }, log });

  it('of the Mediator (kill -9) the server stops by itself, cleanly, and the data is there at the next start', async () => {
    const dataDir = shop.filled('killed');
    const owner = shop.owner(dataDir);
    const { started } = await owner.outcome;
    await sql(started!.url, 'CREATE TABLE last AS SELECT 7 AS words');
    owner.child.kill('SIGKILL');
    await eventually(() => processesNaming(dataDir).length === 0);
    expect(readFileSync(join(dataDir, 'postgres.log'), 'utf8').trimEnd()).toMatch(/database system is shut down$/);
    expect(existsSync(join(started!.location, 'postmaster.pid'))).toBe(false);
    const next = await start(dataDir);
    expect(await sql(next.url, 'SELECT words FROM last')).toEqual([{ words: 7 }]);
    await next.stop();
  });

  it('of the Mediator a next one that starts at once waits for the server left over', async () => {
    const dataDir = shop.filled('hasty');
    const owner = shop.owner(dataDir);
    await owner.outcome;
    owner.child.kill('SIGKILL');
    await owner.gone;
    const next = await start(dataDir);
    expect(await sql(next.url, 'SELECT what FROM kept')).toHaveLength(1);
    await next.stop();
  });

  it('of everything but the server itself, the next start ends the orphan', async () => {
    const dataDir = shop.filled('orphan');
    const owner = shop.owner(dataDir);
    await owner.outcome;
    // Stopped first: a Mediator that sees its shell die ends the pipe, and the other half of the shell would act on it.
    owner.child.kill('SIGSTOP');
    await eventually(() => /\) T /.test(readFileSync(`/proc/${owner.pid}/stat`, 'utf8')));
    killShells(dataDir);
    owner.child.kill('SIGKILL');
    await owner.gone;
    const pid = readFileSync(join(dataDir, 'postgres-18', 'postmaster.pid'), 'utf8').split('\n')[0]!;
    const log: string[] = [];
    const next = await start(dataDir, (line) => log.push(line));
    expect(log).toContain(
      `waiting for the PostgreSQL left over in ${join(dataDir, 'postgres-18')} to end (pid ${pid})`,
    );
    expect(await sql(next.url, 'SELECT what FROM kept')).toHaveLength(1);
    await next.stop();
    expect(processesNaming(dataDir)).toEqual([]);
  });

  it('of the shell alone stop() still waits for the server', async () => {
    const dataDir = shop.filled('shell');
    const server = await start(dataDir);
    killShells(dataDir);
    expect((await server.exited).reason).toContain('its shell was killed by SIGKILL');
    await server.stop();
    expect(processesNaming(dataDir)).toEqual([]);
  });

  it('of the machine a stale postmaster.pid does not block, though its number is now another live process', async () => {
    const dataDir = shop.filled('reused');
    const stranger = spawn('sleep', ['60']);
    const file = join(dataDir, 'postgres-18', 'postmaster.pid');
    writeFileSync(file, `${stranger.pid}\n${join(dataDir, 'postgres-18')}\n1\n5432\n/tmp\n\n1 1\nready   \n`);
    const server = await start(dataDir);
    expect(await sql(server.url, 'SELECT what FROM kept')).toHaveLength(1);
    await server.stop();
    expect(stranger.exitCode ?? stranger.signalCode).toBeNull();
    stranger.kill('SIGKILL');
  });

  it('in the middle of initdb the next start begins anew', async () => {
    const dataDir = shop.path('half');
    const owner = shop.owner(dataDir);
    await eventually(() => existsSync(join(dataDir, 'postgres-18.half', 'PG_VERSION')));
    owner.child.kill('SIGKILL');
    await owner.gone;
    expect(existsSync(join(dataDir, 'postgres-18'))).toBe(false);
    const next = await start(dataDir);
    expect(await sql(next.url, 'SELECT 1 AS one')).toEqual([{ one: 1 }]);
    await next.stop();
    expect(existsSync(join(dataDir, 'postgres-18.half'))).toBe(false);
  });
});

function killShells(dataDir: string): void {
  const shells = processesNaming(dataDir).filter(({ command }) => command.startsWith('/bin/sh'));
  for (const { pid } of shells) process.kill(pid, 'SIGKILL');
}

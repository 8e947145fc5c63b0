import { afterAll, beforeAll, describe, expect, it, jest } from '@jest/globals';
import { createHash } from 'node:crypto';
import {
  chmodSync,
  chownSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  unlinkSync,
} from 'node:fs';
import { dirname, join } from 'node:path';
import { startEmbedded } from '../../src/platform/embedded/start-embedded.js';
import { copyPackage, isRoot, NOBODY, processesNaming, sql, Workshop } from './workshop.js';

jest.setTimeout(30_000);

// Only root can become somebody else, or give away what it owns.
const asRoot = isRoot ? describe : describe.skip;
const quick = { fsync: 'off' };
const elsewhere = (dataDir: string) =>
  join('/var/lib/mediator', createHash('sha256').update(dataDir).digest('hex').slice(0, 16));

asRoot('as root', () => {
  let shop: Workshop;
  const toRemove: string[] = [];
  beforeAll(async () => void (shop = await new Workshop().open()));
  afterAll(async () => {
    await shop.close();
    for (const folder of toRemove) rmSync(folder, { recursive: true, force: true });
    if (existsSync('/var/lib/mediator') && readdirSync('/var/lib/mediator').length === 0)
      rmSync('/var/lib/mediator', { recursive: true });
  });

  it('runs as the owner of the data directory, who need not be who owns the checkout', async () => {
    const dataDir = shop.path('nobodys');
    mkdirSync(dataDir, { mode: 0o700 });
    chownSync(dataDir, NOBODY, NOBODY);
    const server = await startEmbedded({ dataDir, settings: quick });
    expect(statSync(server.location).uid).toBe(NOBODY);
    expect(server.notice).toBeUndefined();
    await server.stop();

    // The same directory afterwards without root: nothing in it may have become root's.
    const owner = shop.owner(dataDir, { uid: NOBODY });
    expect(await owner.outcome).toMatchObject({ started: { location: server.location } });
    owner.child.stdin!.end();
    expect(await owner.gone).toEqual([0, null]);
  });

  it('keeps the data in /var/lib/mediator where the server cannot reach the directory, and says so', async () => {
    const above = shop.path('closed');
    const dataDir = join(above, 'data');
    const home = elsewhere(dataDir);
    toRemove.push(home);
    mkdirSync(above, { mode: 0o700 });
    const server = await startEmbedded({ dataDir, settings: quick });
    expect(server.location).toBe(join(home, 'postgres-18'));
    expect(server.notice).toMatch(`The data of ${dataDir} lies in ${home}, because PostgreSQL cannot run as root`);
    expect(readFileSync(join(home, 'data-directory'), 'utf8')).toBe(`${dataDir}\n`);
    expect(statSync(dataDir).uid).toBe(0);
    await sql(server.url, 'CREATE TABLE kept AS SELECT 1 AS one');
    await server.stop();

    // Opening the folder later must not swap the data for an empty database.
    chmodSync(above, 0o755);
    const again = await startEmbedded({ dataDir, settings: quick });
    expect(again.location).toBe(server.location);
    expect(again.notice).toContain(home);
    expect(await sql(again.url, 'SELECT one FROM kept')).toHaveLength(1);
    await again.stop();
    expect(processesNaming(home)).toEqual([]);
    chownSync(dataDir, NOBODY, NOBODY);
    const owner = shop.owner(dataDir, { uid: NOBODY });
    expect((await owner.outcome).failed?.message).toContain(`lies in ${home} since the Mediator ran as root`);
  });

  it('refuses to begin anew beside data that has become unreachable', async () => {
    const dataDir = shop.filled('later-closed/data');
    chmodSync(dirname(dataDir), 0o700);
    await expect(startEmbedded({ dataDir })).rejects.toThrow(/cannot reach its data.*chmod/);
    expect(existsSync(elsewhere(dataDir))).toBe(false);
  });

  it('copies the binaries where the server cannot reach the checkout, and restores missing links in the copy', async () => {
    const checkout = shop.path('checkout');
    await shop.compile(checkout);
    const native = copyPackage(checkout);
    for (const link of links(native)) unlinkSync(link);
    chmodSync(checkout, 0o700);
    const dataDir = shop.filled('beside');
    for (let round = 0; round < 2; round++) {
      const owner = shop.owner(dataDir, { sources: checkout });
      expect(await owner.outcome).toMatchObject({ started: {} });
      owner.child.stdin!.end();
      await owner.gone;
      expect(owner.told.filter(({ log }) => log?.startsWith('copying')).length).toBe(round === 0 ? 1 : 0);
    }
    const copies = readdirSync(dataDir).filter((name) => name.startsWith('binaries-'));
    expect(copies).toHaveLength(1);
    expect(links(join(dataDir, copies[0]!)).length).toBeGreaterThan(5);
    expect(links(native)).toEqual([]);
  });

  it('restores missing links in the package itself where it may, and in a copy where it may not', async () => {
    const checkout = shop.path('without-scripts');
    await shop.compile(checkout);
    const native = copyPackage(checkout);
    for (const link of links(native)) unlinkSync(link);

    const foreign = shop.path('foreign');
    mkdirSync(foreign);
    chownSync(foreign, NOBODY, NOBODY);
    const guest = shop.owner(foreign, { sources: checkout, uid: NOBODY });
    expect(await guest.outcome).toMatchObject({ started: {} });
    guest.child.stdin!.end();
    await guest.gone;
    expect(links(native)).toEqual([]);

    const own = shop.owner(shop.filled('own'), { sources: checkout });
    expect(await own.outcome).toMatchObject({ started: {} });
    own.child.stdin!.end();
    await own.gone;
    expect(links(native).length).toBeGreaterThan(5);
  });
});

function links(native: string): string[] {
  return readdirSync(join(native, 'lib'), { withFileTypes: true })
    .filter((entry) => entry.isSymbolicLink())
    .map(({ name }) => join(native, 'lib', name));
}

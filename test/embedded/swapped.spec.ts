import { afterAll, afterEach, beforeAll, describe, expect, it, jest } from '@jest/globals';
import { spawnSync } from 'node:child_process';
import {
  chmodSync,
  chownSync,
  existsSync,
  linkSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  renameSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { EmbeddedOwnerError } from '../../src/platform/embedded/embedded-error.js';
import { guardHome } from '../../src/platform/embedded/guard-home.js';
import { makeFolder, removeAs } from '../../src/platform/embedded/own-files.js';
import { openLocked } from '../../src/platform/embedded/locks.js';
import { openServerLog } from '../../src/platform/embedded/start-server.js';
import { startEmbedded } from '../../src/platform/embedded/start-embedded.js';
import { atFailpoints } from '../../src/platform/failpoints.js';
import { once } from '../support/failpoints.js';
import { isRoot, NOBODY } from './workshop.js';

jest.setTimeout(30_000);

// Only root can become somebody else, or give away what it owns.
const asRoot = isRoot ? describe : describe.skip;
const nobody = { name: 'nobody', uid: NOBODY, gid: NOBODY };

asRoot("as root, in another account's folder", () => {
  let root: string;
  /** Root's own, which nobody may be given. */
  let precious: string;
  let home: string;
  let made = 0;
  beforeAll(() => {
    root = mkdtempSync('/tmp/embedded-swapped-');
    chmodSync(root, 0o755);
    precious = join(root, 'precious');
    mkdirSync(precious, { mode: 0o750 });
    writeFileSync(join(precious, 'secret'), 'of root');
  });
  afterEach(() => {
    atFailpoints(undefined);
    for (const path of [precious, join(precious, 'secret')]) expect(statSync(path).uid).toBe(0);
    expect(statSync(precious).mode & 0o777).toBe(0o750);
    expect(readdirSync(precious)).toEqual(['secret']);
  });
  afterAll(() => rmSync(root, { recursive: true }));

  function newHome(owner = NOBODY, mode = 0o700): string {
    home = join(root, `home${++made}`);
    mkdirSync(home);
    chmodSync(home, mode);
    chownSync(home, owner, owner);
    return home;
  }

  it('a folder that is swapped for a link between look and act is not followed', async () => {
    const folder = join(newHome(), 'socket');
    once('embedded.folder-made', () => {
      renameSync(folder, `${folder}.away`);
      symlinkSync(precious, folder);
    });
    await expect(makeFolder(folder, nobody)).rejects.toThrow(EmbeddedOwnerError);
  });

  it.each(['socket', 'postgres-18.half'])('nor at a start, where it is the folder %s', async (name) => {
    const dataDir = newHome();
    atFailpoints((passed) => {
      const path = join(dataDir, name);
      if (passed !== 'embedded.folder-made' || !existsSync(path)) return;
      atFailpoints(undefined);
      renameSync(path, `${path}.away`);
      symlinkSync(precious, path);
    });
    await expect(startEmbedded({ dataDir, settings: { fsync: 'off' } })).rejects.toThrow(/is a link/);
  });

  it('a folder of root that is not empty is not given away, wherever it came from', async () => {
    const folder = join(newHome(), 'socket');
    once('embedded.folder-made', () => {
      renameSync(folder, `${folder}.away`);
      mkdirSync(folder);
      writeFileSync(join(folder, 'kept'), '');
    });
    await expect(makeFolder(folder, nobody)).rejects.toThrow(/not empty/);
    expect(statSync(folder).uid).toBe(0);
  });

  it('a file under a second name is neither opened nor given away', () => {
    const secret = join(precious, 'secret');
    for (const name of ['owner.lock', 'server.lock', 'postgres.log']) linkSync(secret, join(newHome(), name));
    newHome();
    linkSync(secret, join(home, 'owner.lock'));
    linkSync(secret, join(home, 'postgres.log'));
    expect(() => openLocked(join(home, 'owner.lock'), nobody)).toThrow(EmbeddedOwnerError);
    expect(() => openServerLog({ home, user: nobody })).toThrow(EmbeddedOwnerError);
    for (let n = 1; n <= made; n++) {
      const folder = join(root, `home${n}`);
      for (const name of ['owner.lock', 'server.lock', 'postgres.log']) rmSync(join(folder, name), { force: true });
    }
  });

  it('what is removed there is removed as the one whose it is: a link in the way leads nowhere', () => {
    newHome();
    const half = join(home, 'half');
    const make = (script: string) => spawnSync('/bin/sh', ['-c', script], { uid: NOBODY, gid: NOBODY, cwd: home });
    make(`mkdir -p half/inside && ln -s ${precious} half/inside/link && ln -s ${precious} half/link`);
    removeAs(nobody, half);
    expect(existsSync(half)).toBe(false);
    make(`ln -s ${precious} half`);
    removeAs(nobody, half);
    expect(readdirSync(home)).toEqual([]);
    // What is root's in there is not that user's to remove, and is not removed for it.
    mkdirSync(join(home, 'half', 'deep'), { recursive: true });
    writeFileSync(join(home, 'half', 'deep', 'kept'), '');
    expect(() => removeAs(nobody, half)).toThrow(/nobody cannot remove it/);
  });

  it('a data directory of somebody else is refused; one of ours is closed to others; one that others may write is told of', () => {
    expect(() => guardHome(newHome(4711), nobody)).toThrow(/belongs to somebody else than nobody/);
    expect(guardHome(newHome(NOBODY, 0o777), nobody)).toBeUndefined();
    expect(statSync(home).mode & 0o777).toBe(0o700);
    expect(guardHome(newHome(0, 0o777), nobody)).toMatch(/Others may write to the data directory .* \(mode 777\)/);
    expect(guardHome(newHome(0, 0o755), nobody)).toBeUndefined();
    expect(statSync(home)).toMatchObject({ uid: 0 });
    expect(guardHome(newHome(0, 0o755), undefined)).toBeUndefined();
    expect(statSync(home).mode & 0o777).toBe(0o700);
  });

  it('a data directory that is made is 0700, and of whom the database runs as', async () => {
    const dataDir = join(root, 'above', 'data');
    const server = await startEmbedded({ dataDir, settings: { fsync: 'off' } });
    await server.stop();
    const { uid, mode } = statSync(dataDir);
    expect([uid, mode & 0o777]).toEqual([statSync(server.location).uid, 0o700]);
    expect(uid).not.toBe(0);
    expect(statSync(join(root, 'above')).mode & 0o777).toBe(0o777 & ~process.umask());
  });
});

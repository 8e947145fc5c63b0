import { spawnSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { constants, cpSync, existsSync, lstatSync, readFileSync, readdirSync, renameSync, symlinkSync } from 'node:fs';
import { basename, join, relative } from 'node:path';
import { canReach } from './can-reach.js';
import type { Location } from './choose-location.js';
import { copyAs } from './copy-as.js';
import type { Binaries } from './find-binaries.js';
import { makeFolder } from './make-folder.js';
import { removeAs } from './remove-as.js';
import type { ServerUser } from './server-user.js';

interface Link {
  source: string;
  target: string;
}

/**
 * Gives a folder of binaries that the server's user can run and whose symlinks are whole: npm packages carry no
 * symlinks, an install script makes them, and where scripts are off (`--ignore-scripts`) it is done here.
 * The package itself is used where possible. A copy goes beside the data, not to /tmp: there anybody could have put
 * binaries of his own under the name. Runs under the owner lock, so nobody else makes or removes a copy meanwhile.
 */
export async function prepareBinaries(
  { native, version }: Binaries,
  { home, user }: Location,
  log: (line: string) => void,
): Promise<string> {
  const prefix = 'binaries-';
  const copy = join(home, `${prefix}${version}-${fingerprint(native)}`);
  for (const name of readdirSync(home)) {
    if (name.startsWith(prefix) && name !== basename(copy)) removeAs(user, join(home, name));
  }
  const links = readLinks(native);
  const probes = ['bin/postgres', 'lib', 'share/postgresql/postgres.bki'].map((path) => join(native, path));
  if ((!user || canReach(user, ...probes)) && restoreLinks(native, links)) return native;

  if (!existsSync(copy)) {
    log(`copying PostgreSQL's binaries to ${copy}`);
    const half = `${copy}.half`;
    if (user) {
      await makeFolder(half, user);
      await copyAs(user, native, half);
      linkAs(user, half, links);
    } else {
      cpSync(native, half, { recursive: true, verbatimSymlinks: true, mode: constants.COPYFILE_FICLONE });
      restoreLinks(half, links);
    }
    renameSync(half, copy);
  }
  return copy;
}

/** Makes the links that are missing in a copy of the user's, as the user. */
function linkAs({ uid, gid }: ServerUser, native: string, links: Link[]): void {
  for (const { source, target } of links) {
    const link = join(native, relative('native', target));
    if (existsSync(link)) continue;
    spawnSync('ln', ['-s', '--', basename(source), link], { uid, gid, cwd: '/', stdio: 'ignore' });
  }
}

// A reinstalled package of the same version is another file; its copy must not survive it.
function fingerprint(native: string): string {
  const { size, mtimeMs } = lstatSync(join(native, 'bin/postgres'));
  return createHash('sha256').update(`${native} ${size} ${mtimeMs}`).digest('hex').slice(0, 8);
}

function readLinks(native: string): Link[] {
  const list = join(native, 'pg-symlinks.json');
  return existsSync(list) ? (JSON.parse(readFileSync(list, 'utf8')) as Link[]) : [];
}

/** False where a link is missing and cannot be made, as in a read-only node_modules. */
function restoreLinks(native: string, links: Link[]): boolean {
  for (const { source, target } of links) {
    // Both are named from the package's root; a link leads to a neighbour in its own folder.
    const link = join(native, relative('native', target));
    if (existsSync(link)) continue;
    try {
      symlinkSync(basename(source), link);
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== 'EEXIST') return false;
    }
  }
  return true;
}

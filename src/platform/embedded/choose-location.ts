import { createHash } from 'node:crypto';
import {
  readdirSync,
  existsSync,
  readFileSync,
  closeSync,
  constants,
  ftruncateSync,
  mkdirSync,
  realpathSync,
  writeSync,
} from 'node:fs';
import { join, basename, dirname } from 'node:path';
import { EmbeddedError, EmbeddedVersionError } from './embedded-error.js';
import { guardHome } from './guard-home.js';
import { makeFolder, openOwn } from './own-files.js';
import { canReach, type ServerUser, serverUser } from './server-user.js';

/** The cluster folders in a home, of any major version. */
function listClusters(home: string): string[] {
  try {
    return readdirSync(home)
      .filter((name) => /^postgres-\d+$/.test(name))
      .sort()
      .map((name) => join(home, name));
  } catch {
    return [];
  }
}

/** Says whether the cluster of this major version is there; refuses to begin beside another version's data. */
export function checkMajor(home: string, cluster: string, major: string): boolean {
  if (existsSync(cluster)) {
    const file = join(cluster, 'PG_VERSION');
    if (!existsSync(file)) {
      throw new EmbeddedError(`${cluster} is not a PostgreSQL data folder (no PG_VERSION). Restore or remove it.`);
    }
    const found = readFileSync(file, 'utf8').trim();
    if (found !== major) {
      throw new EmbeddedVersionError(
        `${cluster} was written by PostgreSQL ${found}, this is ${major}. ${advice(cluster)}`,
      );
    }
    return true;
  }
  const other = listClusters(home).at(-1);
  if (other !== undefined) {
    const found = basename(other).slice('postgres-'.length);
    throw new EmbeddedVersionError(
      `The data in ${other} is PostgreSQL ${found}'s, this Mediator brings ${major}. ${advice(other)}`,
    );
  }
  return false;
}

function advice(folder: string): string {
  return (
    `To keep it, dump it (pg_dump) with the Mediator that wrote it, move ${folder} away, start this one and restore the dump; ` +
    `to begin anew, move or remove ${folder}.`
  );
}

export interface Location {
  /** The folder that holds the locks, the log and one `postgres-<major>` folder per version. */
  home: string;
  /** Whom the server runs as; undefined: whoever runs the Mediator. */
  user?: ServerUser;
  notice?: string;
}

const ELSEWHERE = '/var/lib/mediator';

/**
 * In the data directory wherever possible. A root whose server cannot get there (a 0700 folder above) keeps the data in
 * /var/lib/mediator. Data that exists is stayed with, whatever became of the permissions since: an empty database in
 * place of the one from yesterday would be worse than an error.
 */
export async function chooseLocation(dataDir: string): Promise<Location> {
  const made = makeDataDir(dataDir);
  const real = realpathSync(dataDir);
  const elsewhere = join(ELSEWHERE, createHash('sha256').update(real).digest('hex').slice(0, 16));
  const here = listClusters(real);
  const there = listClusters(elsewhere);

  if (process.getuid?.() !== 0) {
    if (here.length === 0 && there.length > 0) {
      throw new EmbeddedError(
        `The data of ${real} lies in ${elsewhere} since the Mediator ran as root. Run it as root again, ` +
          `or move ${there.join(', ')} to ${real} and give it to your user.`,
      );
    }
    return { home: real, notice: guardHome(real, undefined) };
  }

  const user = serverUser(real, here.at(-1) ?? there.at(-1));
  // Root's own would be closed to whom the server runs as.
  if (made && canReach(user, dirname(real))) await makeFolder(real, user);
  const notice = guardHome(real, user);
  const reachable = canReach(user, real);
  if (here.length > 0 && !reachable) {
    throw new EmbeddedError(
      `PostgreSQL cannot run as root and runs as ${user.name}, who cannot reach its data in ${real}. ` +
        'Let that user enter every folder on the way (chmod a+x).',
    );
  }
  if (here.length > 0 || (reachable && there.length === 0)) return { home: real, user, notice };

  mkdirSync(elsewhere, { recursive: true, mode: 0o755 });
  const named = openOwn(join(elsewhere, 'data-directory'), undefined, { flags: constants.O_WRONLY, mode: 0o644 });
  ftruncateSync(named);
  writeSync(named, `${real}\n`);
  closeSync(named);
  const why = reachable
    ? 'where it was put when the data directory could not be reached'
    : `because PostgreSQL cannot run as root and ${user.name} cannot reach the data directory`;
  return { home: elsewhere, user, notice: `The data of ${real} lies in ${elsewhere}, ${why}.` };
}

/** True where there was none. What stands above it is made like any folder. */
function makeDataDir(dataDir: string): boolean {
  mkdirSync(dirname(dataDir), { recursive: true });
  try {
    mkdirSync(dataDir, { mode: 0o700 });
    return true;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'EEXIST') return false;
    throw error;
  }
}

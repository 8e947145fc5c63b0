import { spawnSync } from 'node:child_process';
import { readFileSync, readlinkSync, existsSync } from 'node:fs';
import { join } from 'node:path';
import type { Location } from './choose-location.js';
import { EmbeddedInUseError } from './embedded-error.js';
import { removeAs } from './own-files.js';

/**
 * The pid of the server that runs on this cluster, as its postmaster.pid says, if that process is one: after a crash or
 * a reboot the number may belong to anybody. A postmaster's working directory is its cluster.
 */
export function findPostmaster(cluster: string): number | undefined {
  try {
    const pid = Number(readFileSync(join(cluster, 'postmaster.pid'), 'utf8').split('\n')[0]);
    if (!Number.isInteger(pid) || pid <= 1) return undefined;
    if (process.platform === 'linux') {
      const isPostgres = readFileSync(`/proc/${pid}/comm`, 'utf8').trim() === 'postgres';
      return isPostgres && readlinkSync(`/proc/${pid}/cwd`) === cluster ? pid : undefined;
    }
    const { stdout } = spawnSync('ps', ['-ww', '-o', 'command=', '-p', String(pid)], { encoding: 'utf8' });
    return stdout.includes('postgres') && stdout.includes(cluster) ? pid : undefined;
  } catch {
    return undefined;
  }
}

/**
 * Under the server lock no server of ours is alive, so a postmaster.pid is stale, even if its number now belongs to some
 * process, which PostgreSQL itself takes for a running server. A server started by hand holds no lock of ours, hence the look.
 */
export function clearStalePid({ home, user }: Location, cluster: string, log: (line: string) => void): void {
  const file = join(cluster, 'postmaster.pid');
  if (!existsSync(file)) return;
  const pid = findPostmaster(cluster);
  if (pid !== undefined) throw new EmbeddedInUseError(home, pid, 'a PostgreSQL that no Mediator started');
  log(`removing a stale ${file}`);
  removeAs(user, file);
}

/** SIGINT: fast shutdown, clean. SIGQUIT: immediate, the next start recovers from the log. */
export function signalPostmaster(cluster: string, signal: 'SIGINT' | 'SIGQUIT'): void {
  const pid = findPostmaster(cluster);
  if (pid === undefined) return;
  try {
    process.kill(pid, signal);
  } catch {
    // Gone in between.
  }
}

import { spawnSync } from 'node:child_process';
import { readFileSync, readlinkSync } from 'node:fs';
import { join } from 'node:path';

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

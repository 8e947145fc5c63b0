import { closeSync, fsyncSync, openSync, renameSync } from 'node:fs';
import { dirname, join } from 'node:path';
import type { Location } from './choose-location.js';
import { EmbeddedError } from './embedded-error.js';
import { makeFolder, removeAs } from './own-files.js';
import type { ServerLog } from './start-server.js';
import { supervise } from './supervise.js';

export interface ClusterPlan {
  cluster: string;
  binaries: string;
  lockFd: number;
  /** Whether it has to survive the machine's power cut. */
  durable: boolean;
}

/**
 * Made under another name and renamed when complete, the database included: an initdb that was interrupted leaves
 * nothing that could be taken for a cluster, and the next start begins anew.
 */
export async function createCluster(plan: ClusterPlan, { user }: Location, log: ServerLog): Promise<void> {
  const { cluster, binaries, lockFd, durable } = plan;
  const half = `${cluster}.half`;
  removeAs(user, half);
  await makeFolder(half, user);

  const run = async (command: string, args: string[], input?: string) => {
    const running = supervise({ command: join(binaries, 'bin', command), args, user, logFd: log.fd, lockFd, input });
    const { ok, how } = await running.ended;
    if (ok) return;
    const said = log.tail();
    const hint = said.includes('could not look up effective user ID')
      ? '\nGive that user an entry in /etc/passwd, or set DATABASE_URL.'
      : '';
    throw new EmbeddedError(`The database could not be created: ${command} ${how}.\n${said}${hint}`);
  };
  // The builtin provider sorts by code point and depends on no locale of the machine, nor on its version.
  const locale = ['--encoding=UTF8', '--locale=C', '--locale-provider=builtin', '--builtin-locale=C.UTF-8'];
  const sync = durable ? [] : ['--no-sync'];
  // Trust, because who may connect is decided by the folder of the socket (0700), and there is no other way in.
  await run('initdb', ['-D', half, '-U', 'mediator', '--auth=trust', '--no-instructions', ...locale, ...sync]);
  const single = [
    '--single',
    '-D',
    half,
    '-c',
    'exit_on_error=on',
    ...(durable ? [] : ['-c', 'fsync=off']),
    'postgres',
  ];
  await run('postgres', single, 'CREATE DATABASE mediator\n');

  renameSync(half, cluster);
  if (durable) syncFolder(dirname(cluster));
}

// Else a power cut could undo the rename after work was committed, and the next start would throw the work away.
function syncFolder(path: string): void {
  const fd = openSync(path, 'r');
  fsyncSync(fd);
  closeSync(fd);
}

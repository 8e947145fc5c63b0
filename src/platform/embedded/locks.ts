import { spawnSync } from 'node:child_process';
import { closeSync, constants, fchownSync, openSync, ftruncateSync, readFileSync, writeSync } from 'node:fs';
import { hostname } from 'node:os';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import type { Location } from './choose-location.js';
import { EmbeddedUnsupportedError, EmbeddedInUseError, EmbeddedError } from './embedded-error.js';
import { openOwn } from './own-files.js';
import { findPostmaster, signalPostmaster } from './postmaster.js';
import type { ServerUser } from './server-user.js';

// Darwin's open(2) can lock; Node has no name for the flag.
const DARWIN_O_EXLOCK = 0x20;

const PERL = 'open(my $f, "+<&=3") or exit 2; exit(flock($f, LOCK_EX | LOCK_NB) ? 0 : 1)';

/**
 * Opens a file under an exclusive flock, undefined when somebody else holds it. The lock belongs to the open file: it is
 * held as long as any process has this descriptor, and the kernel drops it when the last one is gone, in whatever way.
 * So there is no stale lock to judge, no pid to mistake for another's, and of two who start at once one wins.
 * The file is never removed; removing it would let two processes lock two files of one name.
 *
 * Node cannot call flock(2). The command `flock` locks the descriptor it inherits and leaves, the lock stays with ours.
 */
export function openLocked(path: string, user?: ServerUser): number | undefined {
  if (process.platform === 'darwin') {
    const flags = constants.O_RDWR | constants.O_CREAT | constants.O_NOFOLLOW;
    try {
      return openSync(path, flags | DARWIN_O_EXLOCK | constants.O_NONBLOCK, 0o644);
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code === 'EAGAIN') return undefined;
      throw error;
    }
  }
  const fd = openOwn(path, user, { flags: constants.O_RDWR, mode: 0o644 });
  try {
    // Else a Mediator that later runs as that user could not open it.
    if (user) fchownSync(fd, user.uid, user.gid);
    if (flock(fd)) return fd;
  } catch (error) {
    closeSync(fd);
    throw error;
  }
  closeSync(fd);
  return undefined;
}

function flock(fd: number): boolean {
  const stdio = ['ignore', 'ignore', 'ignore', fd] as const;
  for (const [command, args] of [
    ['flock', ['-n', '3']],
    ['perl', ['-MFcntl=:flock', '-e', PERL]],
  ] as const) {
    const { status } = spawnSync(command, args, { stdio: [...stdio] });
    if (status === 0) return true;
    if (status === 1) return false;
  }
  throw new EmbeddedUnsupportedError(
    'The embedded PostgreSQL needs the command flock (package util-linux) or perl to guard its data. ' +
      'Install one of them, or set DATABASE_URL to a PostgreSQL 15 or newer.',
  );
}

/**
 * The Mediator's own claim to a home, held by this process alone and given up by closing the descriptor. Nothing in the
 * home is touched before it is taken. The pid in the file is for the message only, never for a decision.
 */
export async function takeOwnerLock({ home, user }: Location): Promise<number> {
  const path = join(home, 'owner.lock');
  const fd = openLocked(path, user);
  if (fd === undefined) throw await inUse(home, path);
  ftruncateSync(fd);
  writeSync(fd, `${process.pid} ${hostname()}\n`, 0);
  return fd;
}

async function inUse(home: string, path: string): Promise<EmbeddedInUseError> {
  let pid: number | undefined;
  let host: string | undefined;
  // The holder writes its pid just after it has locked: until then the file is empty or names its predecessor, which may
  // have been on another machine. So only a live process of this one is believed at once.
  for (let round = 0; round < 100; round++) {
    const [first, second] = readFileSync(path, 'utf8').trim().split(' ');
    pid = Number(first) || undefined;
    host = second;
    if (pid !== undefined && host === hostname() && isAlive(pid)) break;
    await pause(10);
  }
  const where = host === undefined || host === hostname() ? '' : ` on ${host}`;
  return new EmbeddedInUseError(home, pid, `another Mediator${where}`);
}

function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === 'EPERM';
  }
}

const IMMEDIATE_AFTER_MS = 30_000;
const GIVE_UP_AFTER_MS = 60_000;

/**
 * The second lock, inherited by the supervising shell and by every process of the server, and held by nobody else once
 * they run: who gets it knows that nothing of a former server is alive. Taken under the owner lock, so whoever holds it
 * is left over from a Mediator that died. It is stopping by itself; if its shell has died as well, it gets a signal.
 */
export async function takeServerLock(
  { home, user }: Location,
  cluster: string,
  log: (line: string) => void,
): Promise<number> {
  const path = join(home, 'server.lock');
  const since = Date.now();
  let waiting = false;
  let forced = false;
  for (;;) {
    const fd = openLocked(path, user);
    if (fd !== undefined) return fd;
    const waited = Date.now() - since;
    if (!waiting) {
      waiting = true;
      log(`waiting for the PostgreSQL left over in ${cluster} to end (pid ${findPostmaster(cluster) ?? 'unknown'})`);
      signalPostmaster(cluster, 'SIGINT');
    }
    if (!forced && waited > IMMEDIATE_AFTER_MS) {
      forced = true;
      signalPostmaster(cluster, 'SIGQUIT');
    }
    if (waited > GIVE_UP_AFTER_MS) {
      throw new EmbeddedError(
        `A PostgreSQL left over in ${cluster} (pid ${findPostmaster(cluster) ?? 'unknown'}) does not end. Stop it by hand and start again.`,
      );
    }
    await pause(50);
  }
}

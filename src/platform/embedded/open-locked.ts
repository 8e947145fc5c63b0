import { spawnSync } from 'node:child_process';
import { closeSync, constants, fchownSync, openSync } from 'node:fs';
import { EmbeddedUnsupportedError } from './embedded-error.js';
import { openOwn } from './open-own.js';
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

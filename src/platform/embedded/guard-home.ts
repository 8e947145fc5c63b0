import { closeSync, fchmodSync, fstatSync } from 'node:fs';
import { EmbeddedOwnerError } from './embedded-error.js';
import { openOwn } from './own-files.js';
import type { ServerUser } from './server-user.js';

/**
 * Refuses a data directory of somebody else, who could put anything in the place of what is there: it must be ours, root's
 * or the server's user's. Closes one of ours to everybody else; gives a sentence where others may write to one of root's.
 */
export function guardHome(home: string, user: ServerUser | undefined): string | undefined {
  const me = process.getuid?.();
  const owner = user ?? { uid: me!, name: 'you' };
  let fd: number;
  try {
    // Root's, too: as in a volume that an orchestrator has made.
    fd = openOwn(home, me === 0 ? user : { name: 'root', uid: 0, gid: 0 }, 'folder');
  } catch (error) {
    if (!(error instanceof EmbeddedOwnerError)) throw error;
    throw new EmbeddedOwnerError(
      `The data directory ${home} belongs to somebody else than ${user?.name ?? 'you'}, or is a link. ` +
        'Give it to whom the database runs as, or set MEDIATOR_DATA_DIR to another.',
    );
  }
  try {
    const { uid, mode } = fstatSync(fd);
    if (uid === owner.uid) {
      fchmodSync(fd, 0o700);
      return undefined;
    }
    return (mode & 0o022) === 0
      ? undefined
      : `Others may write to the data directory ${home} (mode ${(mode & 0o7777).toString(8)}): chmod go-w it.`;
  } finally {
    closeSync(fd);
  }
}

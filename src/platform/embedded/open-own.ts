import { closeSync, constants, fstatSync, openSync, type Stats } from 'node:fs';
import { EmbeddedOwnerError } from './embedded-error.js';
import type { ServerUser } from './server-user.js';

/*
 * As root this works in folders that belong to another account, which may put a link in the place of anything between a
 * look at it and what is done to it. So things are opened first, never through a link, and then looked at and changed by
 * the descriptor: what is changed is what was looked at.
 */

/** Opens a folder that is ours, or the server's user's; throws where it is anything else. The caller closes it. */
export function openFolder(path: string, user: ServerUser | undefined): number {
  return openOwn(path, constants.O_RDONLY | constants.O_DIRECTORY | constants.O_NOFOLLOW, user, (found) =>
    found.isDirectory(),
  );
}

/** Opens a file that is ours, or the server's user's, and has no other name; makes it where there is none. */
export function openFile(path: string, flags: number, mode: number, user: ServerUser | undefined): number {
  const wanted = flags | constants.O_CREAT | constants.O_NOFOLLOW;
  return openOwn(path, wanted, user, (found) => found.isFile() && found.nlink === 1, mode);
}

function openOwn(
  path: string,
  flags: number,
  user: ServerUser | undefined,
  isWanted: (found: Stats) => boolean,
  mode?: number,
): number {
  let fd: number;
  try {
    fd = openSync(path, flags, mode);
  } catch (error) {
    const { code = '' } = error as NodeJS.ErrnoException;
    if (['ELOOP', 'ENOTDIR', 'EISDIR', 'EMLINK'].includes(code)) throw strange(path);
    throw error;
  }
  try {
    const found = fstatSync(fd);
    if (!isWanted(found)) throw strange(path);
    if (found.uid !== process.getuid?.() && found.uid !== user?.uid) throw foreign(path, found.uid);
    return fd;
  } catch (error) {
    closeSync(fd);
    throw error;
  }
}

function strange(path: string): EmbeddedOwnerError {
  return new EmbeddedOwnerError(`${path} is a link, or not what the Mediator puts there. Remove it.`);
}

function foreign(path: string, uid: number): EmbeddedOwnerError {
  return new EmbeddedOwnerError(`${path} belongs to user ${uid}, not to whom the database runs as. Remove it.`);
}

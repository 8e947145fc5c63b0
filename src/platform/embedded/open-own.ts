import { closeSync, constants, fstatSync, openSync } from 'node:fs';
import { EmbeddedOwnerError } from './embedded-error.js';
import type { ServerUser } from './server-user.js';

/*
 * As root this works in folders that belong to another account, which may put a link in the place of anything between a
 * look at it and what is done to it. So things are opened first, never through a link, and then looked at and changed by
 * the descriptor: what is changed is what was looked at.
 */

/**
 * Opens a folder, or a file with no other name, which is made where there is none. Throws where it is anything else, or
 * neither ours nor the server's user's. The caller closes it.
 */
export function openOwn(
  path: string,
  user: ServerUser | undefined,
  wanted: 'folder' | { flags: number; mode: number },
): number {
  const { O_RDONLY, O_DIRECTORY, O_CREAT, O_NOFOLLOW } = constants;
  const fd =
    wanted === 'folder'
      ? open(path, O_RDONLY | O_DIRECTORY | O_NOFOLLOW)
      : open(path, wanted.flags | O_CREAT | O_NOFOLLOW, wanted.mode);
  try {
    const found = fstatSync(fd);
    if (wanted !== 'folder' && !(found.isFile() && found.nlink === 1)) throw strange(path);
    if (found.uid !== process.getuid?.() && found.uid !== user?.uid) throw foreign(path, found.uid);
    return fd;
  } catch (error) {
    closeSync(fd);
    throw error;
  }
}

function open(path: string, flags: number, mode?: number): number {
  try {
    return openSync(path, flags, mode);
  } catch (error) {
    const { code = '' } = error as NodeJS.ErrnoException;
    throw ['ELOOP', 'ENOTDIR', 'EISDIR', 'EMLINK'].includes(code) ? strange(path) : error;
  }
}

function strange(path: string): EmbeddedOwnerError {
  return new EmbeddedOwnerError(`${path} is a link, or not what the Mediator puts there. Remove it.`);
}

function foreign(path: string, uid: number): EmbeddedOwnerError {
  return new EmbeddedOwnerError(`${path} belongs to user ${uid}, not to whom the database runs as. Remove it.`);
}

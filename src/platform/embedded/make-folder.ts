import { closeSync, fchmodSync, fchownSync, fstatSync, mkdirSync, readdirSync } from 'node:fs';
import { point } from '../points.js';
import { EmbeddedOwnerError } from './embedded-error.js';
import { openOwn } from './open-own.js';
import type { ServerUser } from './server-user.js';

/**
 * A folder that nobody but the server's user (and root) may enter, made where there is none. What is root's is given away
 * only while it is empty: then it is the one that was made here, or worth nothing.
 */
export async function makeFolder(path: string, user: ServerUser | undefined): Promise<void> {
  try {
    mkdirSync(path, { mode: 0o700 });
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error;
  }
  await point('embedded.folder-made');
  const fd = openOwn(path, user, 'folder');
  try {
    if (user && fstatSync(fd).uid !== user.uid) {
      if (readdirSync(path).length > 0) throw new EmbeddedOwnerError(`${path} is root's and not empty. Remove it.`);
      fchownSync(fd, user.uid, user.gid);
    }
    fchmodSync(fd, 0o700);
  } finally {
    closeSync(fd);
  }
}

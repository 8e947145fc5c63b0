import { spawnSync } from 'node:child_process';
import { lstatSync, rmdirSync, rmSync, unlinkSync } from 'node:fs';
import { EmbeddedOwnerError } from './embedded-error.js';
import type { ServerUser } from './server-user.js';

/**
 * Removes a file or a folder with all that is in it, as the server's user where there is one: whatever that user puts in
 * its way, it can only remove what is that user's own. What is left then is its place in a folder of root's.
 */
export function removeAs(user: ServerUser | undefined, path: string): void {
  if (!user) return rmSync(path, { recursive: true, force: true });
  const { uid, gid } = user;
  spawnSync('rm', ['-rf', '--', path], { uid, gid, cwd: '/', stdio: 'ignore' });
  try {
    if (lstatSync(path).isDirectory()) rmdirSync(path);
    else unlinkSync(path);
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    if (code === 'ENOENT') return;
    throw new EmbeddedOwnerError(`${path} is in the way, and ${user.name} cannot remove it (${code}). Remove it.`);
  }
}

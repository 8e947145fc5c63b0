import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import {
  closeSync,
  constants,
  fstatSync,
  openSync,
  fchmodSync,
  fchownSync,
  mkdirSync,
  readdirSync,
  lstatSync,
  rmdirSync,
  rmSync,
  unlinkSync,
} from 'node:fs';
import { failpoint } from '../failpoints.js';
import { EmbeddedOwnerError, EmbeddedError } from './embedded-error.js';
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
  await failpoint('embedded.folder-made');
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

/**
 * Copies what is in a folder into another one. Whoever runs this reads, since the user may not; the user writes, so that
 * it becomes the user's and lands nowhere else.
 */
export async function copyAs(user: ServerUser, from: string, to: string): Promise<void> {
  const { uid, gid } = user;
  const pack = spawn('tar', ['-C', from, '-cf', '-', '.'], { cwd: '/', stdio: ['ignore', 'pipe', 'ignore'] });
  const unpack = spawn('tar', ['-C', to, '-xf', '-'], { uid, gid, cwd: '/', stdio: [pack.stdout, 'ignore', 'ignore'] });
  pack.stdout.destroy();
  const codes = await Promise.all([pack, unpack].map((child) => once(child, 'exit').then(([code]) => code as number)));
  if (codes.some((code) => code !== 0)) throw new EmbeddedError(`${from} could not be copied to ${to} (tar).`);
}

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

import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { EmbeddedError } from './embedded-error.js';
import type { ServerUser } from './server-user.js';

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

import { spawnSync } from 'node:child_process';
import type { ServerUser } from './server-user.js';

/**
 * Asked as that user, since only the kernel knows: modes of every folder above, groups, access lists.
 * A folder is reached when it may be entered, a file when it may be read.
 */
export function canReach(user: ServerUser, ...paths: string[]): boolean {
  const script = 'for p; do if [ -d "$p" ]; then [ -x "$p" ]; else [ -r "$p" ]; fi || exit 1; done';
  const { uid, gid } = user;
  return spawnSync('/bin/sh', ['-c', script, 'sh', ...paths], { uid, gid, cwd: '/', stdio: 'ignore' }).status === 0;
}

import { spawnSync } from 'node:child_process';
import { readFileSync, statSync } from 'node:fs';

export interface ServerUser {
  name: string;
  uid: number;
  gid: number;
}

/**
 * Whom PostgreSQL runs as when the Mediator is root, since it refuses to be root itself: the owner of the data if there
 * is any, else of the data directory, else `postgres`, else `nobody`. An owner without an account cannot run initdb,
 * which looks it up, but can run the server on data it has.
 */
export function serverUser(dataDir: string, data: string | undefined): ServerUser {
  const accounts = readAccounts();
  if (data !== undefined) {
    const { uid, gid } = statSync(data);
    return accounts.find((account) => account.uid === uid) ?? { name: `user ${uid}`, uid, gid };
  }
  const { uid } = statSync(dataDir);
  const owner = accounts.find((account) => account.uid === uid);
  if (owner) return owner;
  const account = ['postgres', 'nobody'].map((name) => accounts.find((one) => one.name === name)).find(Boolean);
  return account ?? { name: 'user 65534', uid: 65534, gid: 65534 };
}

function readAccounts(): ServerUser[] {
  try {
    return readFileSync('/etc/passwd', 'utf8')
      .split('\n')
      .map((line) => line.split(':'))
      .map(([name, , uid, gid]) => ({ name: name!, uid: Number(uid), gid: Number(gid) }))
      .filter((account) => Number.isInteger(account.uid) && account.uid > 0);
  } catch {
    return [];
  }
}

/**
 * Asked as that user, since only the kernel knows: modes of every folder above, groups, access lists.
 * A folder is reached when it may be entered, a file when it may be read.
 */
export function canReach(user: ServerUser, ...paths: string[]): boolean {
  const script = 'for p; do if [ -d "$p" ]; then [ -x "$p" ]; else [ -r "$p" ]; fi || exit 1; done';
  const { uid, gid } = user;
  return spawnSync('/bin/sh', ['-c', script, 'sh', ...paths], { uid, gid, cwd: '/', stdio: 'ignore' }).status === 0;
}

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

import { mkdtempSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { canReach } from './can-reach.js';
import type { Location } from './choose-location.js';
import { makeFolder } from './make-folder.js';
import type { ServerUser } from './server-user.js';

// sun_path is 108 bytes on Linux and 104 on Darwin, with the closing zero.
const LONGEST = process.platform === 'darwin' ? 103 : 107;
const SOCKET_NAME = '/.s.PGSQL.5432';

export interface SocketFolder {
  path: string;
  /** Set if it was made for this start and goes with it. */
  temporary: boolean;
}

/** A folder that nobody but the server's user (and root) may enter: that is what guards the database. */
export async function makeSocketFolder({ home, user }: Location): Promise<SocketFolder> {
  const near = join(home, 'socket');
  const temporary = !fits(near);
  const path = temporary ? mkdtempSync(join(temporaryFolder(user), 'mediator-')) : near;
  await makeFolder(path, user);
  return { path, temporary };
}

function temporaryFolder(user: ServerUser | undefined): string {
  const own = tmpdir();
  return fits(join(own, 'mediator-XXXXXX')) && (!user || canReach(user, own)) ? own : '/tmp';
}

function fits(folder: string): boolean {
  return Buffer.byteLength(folder + SOCKET_NAME) <= LONGEST;
}

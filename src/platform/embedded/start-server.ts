import {
  mkdtempSync,
  readFileSync,
  closeSync,
  constants,
  fchownSync,
  fstatSync,
  ftruncateSync,
  readSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import type { Location } from './choose-location.js';
import { EmbeddedError } from './embedded-error.js';
import { takeServerLock } from './locks.js';
import { makeFolder, openOwn } from './own-files.js';
import { signalPostmaster } from './postmaster.js';
import { canReach, type ServerUser } from './server-user.js';
import { type Supervised, supervise } from './supervise.js';

export interface EmbeddedServer {
  /** For `pg` and TypeORM: a unix socket in a folder of mode 0700. */
  url: string;
  /** Where the data lies. */
  location: string;
  /** A sentence for the operator if that is not under `dataDir`. */
  notice?: string;
  /** Fast shutdown, clean; resolves when it is gone and the directory is free for another. */
  stop(): Promise<void>;
  /** Resolves if the server ends without `stop()`, and only then. */
  exited: Promise<{ reason: string }>;
}

// sun_path is 108 bytes on Linux and 104 on Darwin, with the closing zero.
const LONGEST = process.platform === 'darwin' ? 103 : 107;
const SOCKET_NAME = '/.s.PGSQL.5432';

export interface SocketFolder {
  path: string;
  /** Set if it was made for this start and goes with it. */
  temporary: boolean;
}

/** A folder that nobody but the server's user (and root) may enter: that is what guards the database. */
async function makeSocketFolder({ home, user }: Location): Promise<SocketFolder> {
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

// Recovery after a crash replays at most max_wal_size (1 GB), which takes seconds.
const GIVE_UP_AFTER_MS = 120_000;
const STATUS_LINE = 7;

/** Reads what the postmaster writes about itself, as pg_ctl does; a connection attempt would only fill the log. */
async function awaitReady(cluster: string, server: Supervised): Promise<void> {
  let how: string | undefined;
  void server.ended.then((end) => (how = end.how));
  for (const since = Date.now(); Date.now() - since < GIVE_UP_AFTER_MS; await pause(10)) {
    if (how !== undefined) throw new EmbeddedError(`PostgreSQL did not start: it ${how}.`);
    if (status(cluster) === 'ready') return;
  }
  throw new EmbeddedError(`PostgreSQL was not ready within ${GIVE_UP_AFTER_MS / 1000} s.`);
}

function status(cluster: string): string | undefined {
  try {
    return readFileSync(join(cluster, 'postmaster.pid'), 'utf8').split('\n')[STATUS_LINE]?.trim();
  } catch {
    return undefined;
  }
}

export interface ServerLog {
  path: string;
  /** What the server's stdout and stderr become; closed by `close`. */
  fd: number;
  /** The last lines written since this start. */
  tail(): string;
  close(): void;
}

const TRUNCATE_ABOVE_BYTES = 10 * 1024 * 1024;
const TAIL_BYTES = 4096;
const TAIL_LINES = 15;

export function openServerLog({ home, user }: Location): ServerLog {
  const path = join(home, 'postgres.log');
  const fd = openOwn(path, user, { flags: constants.O_RDWR | constants.O_APPEND, mode: 0o600 });
  if (user) fchownSync(fd, user.uid, user.gid);
  if (fstatSync(fd).size > TRUNCATE_ABOVE_BYTES) ftruncateSync(fd);
  const start = fstatSync(fd).size;

  const tail = () => {
    const { size } = fstatSync(fd);
    const from = Math.max(start, size - TAIL_BYTES);
    const buffer = Buffer.alloc(Math.max(0, size - from));
    readSync(fd, buffer, 0, buffer.length, from);
    return buffer.toString('utf8').trimEnd().split('\n').slice(-TAIL_LINES).join('\n');
  };
  return { path, fd, tail, close: () => closeSync(fd) };
}

const DEFAULTS: Record<string, string> = { shared_buffers: '128MB', max_connections: '100' };
const IMMEDIATE_AFTER_MS = 30_000;

export interface ServerPlan {
  cluster: string;
  binaries: string;
  /** Closed here: once the server has inherited it, the lock is the server's alone. */
  lockFd: number;
  settings: Record<string, string>;
  location: Location;
  serverLog: ServerLog;
  log: (line: string) => void;
  /** Gives up the home to others. */
  disown: () => void;
}

/** Starts the server on a cluster that is there and free, and gives the handle to it once it takes connections. */
export async function startServer(plan: ServerPlan): Promise<EmbeddedServer> {
  const { cluster, binaries, lockFd, location, serverLog } = plan;
  let socket: SocketFolder;
  let server: Supervised;
  try {
    socket = await makeSocketFolder(location);
    const settings = {
      ...DEFAULTS,
      ...plan.settings,
      listen_addresses: '',
      port: '5432',
      unix_socket_directories: `"${socket.path.replaceAll('"', '""')}"`,
    };
    server = supervise({
      command: join(binaries, 'bin', 'postgres'),
      args: ['-D', cluster, ...Object.entries(settings).flatMap(([name, value]) => ['-c', `${name}=${value}`])],
      user: location.user,
      logFd: serverLog.fd,
      lockFd,
      removeFolder: socket.temporary ? socket.path : undefined,
    });
  } finally {
    closeSync(lockFd);
  }

  let stopping = false;
  const end = async () => {
    stopping = true;
    server.ref();
    server.stop();
    const force = setTimeout(() => signalPostmaster(cluster, 'SIGQUIT'), IMMEDIATE_AFTER_MS);
    await server.ended;
    clearTimeout(force);
    // Also where the shell was killed and left the server behind: when this lock is free, nothing of it is alive.
    closeSync(await takeServerLock(location, cluster, plan.log));
  };
  const stop = async () => {
    try {
      await end();
    } finally {
      serverLog.close();
      plan.disown();
    }
  };
  try {
    await awaitReady(cluster, server);
  } catch (error) {
    await end();
    const message = `${(error as Error).message} The end of ${serverLog.path}:\n${serverLog.tail()}`;
    serverLog.close();
    throw new EmbeddedError(message);
  }
  server.unref();

  let stopped: Promise<void> | undefined;
  return {
    url: `postgres://mediator@/mediator?host=${encodeURIComponent(socket.path)}`,
    location: cluster,
    notice: location.notice,
    stop: () => (stopped ??= stop()),
    exited: new Promise((resolve) => {
      void server.ended.then(({ how }) => {
        if (!stopping) resolve({ reason: `PostgreSQL ${how}. The end of ${serverLog.path}:\n${serverLog.tail()}` });
      });
    }),
  };
}

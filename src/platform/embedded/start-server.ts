import { closeSync } from 'node:fs';
import { join } from 'node:path';
import { awaitReady } from './await-ready.js';
import type { Location } from './choose-location.js';
import { EmbeddedError } from './embedded-error.js';
import type { EmbeddedServer } from './embedded-server.js';
import { makeSocketFolder, type SocketFolder } from './make-socket-folder.js';
import type { ServerLog } from './open-server-log.js';
import { signalPostmaster } from './signal-postmaster.js';
import { supervise, type Supervised } from './supervise.js';
import { takeServerLock } from './take-server-lock.js';

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

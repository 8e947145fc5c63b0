import { once } from 'node:events';
import { type AddressInfo, connect, createServer, type Socket } from 'node:net';
import pg from 'pg';
import type { TestDatabase } from './database.js';

/** A way to the database that can be cut and restored: to the server the database is away, and the test still reaches it. */
export interface Proxy {
  /** The same database, reached over this way; its `sql` goes past it. */
  database: TestDatabase;
  /** Breaks every connection and refuses new ones. */
  cut(): Promise<void>;
  /** Takes connections again, at the same port. */
  restore(): Promise<void>;
}

export async function openProxy(database: TestDatabase): Promise<Proxy> {
  const target = new pg.Client({ connectionString: database.url });
  const { host, port } = target;
  const reach = host.startsWith('/') ? { path: `${host}/.s.PGSQL.${port}` } : { host, port };
  const sockets = new Set<Socket>();
  const way = createServer((near) => {
    const far = connect(reach);
    for (const socket of [near, far]) {
      sockets.add(socket);
      socket.on('error', () => undefined);
      socket.on('close', () => {
        sockets.delete(socket);
        near.destroy();
        far.destroy();
      });
    }
    near.pipe(far);
    far.pipe(near);
  });
  const listen = async (at: number): Promise<number> => {
    way.listen(at, '127.0.0.1');
    await once(way, 'listening');
    return (way.address() as AddressInfo).port;
  };
  const own = await listen(0);

  const url = new URL(`postgres://127.0.0.1:${own}/${target.database}`);
  url.username = target.user ?? '';
  url.password = target.password ?? '';
  return {
    database: { ...database, url: url.href },
    cut: async () => {
      const closed = once(way, 'close');
      way.close();
      for (const socket of sockets) socket.destroy();
      await closed;
    },
    restore: async () => {
      await listen(own);
    },
  };
}

import { once } from 'node:events';
import { type AddressInfo, connect, createServer, type Socket } from 'node:net';
import pg from 'pg';
import type { TestDatabase } from './database.js';

/**
 * A way to the database that can be cut and restored: to the server the database is away, and the test still reaches it.
 * It can also be slow, or half open: what is sent on it gets lost, and nobody is told.
 */
export interface Proxy {
  /** The same database, reached over this way; its `sql` goes past it. */
  database: TestDatabase;
  /** Breaks every connection and refuses new ones. */
  cut(): Promise<void>;
  /** Takes connections again, at the same port. */
  restore(): Promise<void>;
  /** Keeps what is sent, in both directions, until `letGo`. */
  hold(): void;
  letGo(): void;
  /** From now on what is sent is lost, or the answers are; new connections are taken, and it is the same on them. */
  swallow(what: 'everything' | 'answers'): void;
  /** New connections work; on the old ones everything is lost for good. */
  heal(): void;
  /** New connections lead to another server; the old ones stay. */
  leadTo(url: string): void;
}

/** One direction of a connection. */
interface Lane {
  to: Socket;
  lost: boolean;
  held: Buffer[];
}

export async function openProxy(database: TestDatabase): Promise<Proxy> {
  const target = new pg.Client({ connectionString: database.url });
  let reach = reachOf(target);
  const sockets = new Set<Socket>();
  const lanes = new Map<Lane, 'asks' | 'answers'>();
  let swallowing: 'everything' | 'answers' | undefined;
  let holding = false;

  const loses = (kind: 'asks' | 'answers'): boolean => swallowing === 'everything' || swallowing === kind;
  const lead = (from: Socket, to: Socket, kind: 'asks' | 'answers'): void => {
    const lane: Lane = { to, lost: loses(kind), held: [] };
    lanes.set(lane, kind);
    from.on('data', (sent) => {
      if (lane.lost) return;
      if (holding) lane.held.push(sent);
      else to.write(sent);
    });
    from.on('close', () => lanes.delete(lane));
  };
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
    lead(near, far, 'asks');
    lead(far, near, 'answers');
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
    hold: () => (holding = true),
    letGo: () => {
      holding = false;
      for (const { to, held } of lanes.keys()) for (const sent of held.splice(0)) to.write(sent);
    },
    swallow: (what) => {
      swallowing = what;
      for (const [lane, kind] of lanes) lane.lost ||= loses(kind);
    },
    heal: () => (swallowing = undefined),
    leadTo: (other) => (reach = reachOf(new pg.Client({ connectionString: other }))),
  };
}

/** Where a server listens, as `connect` takes it. */
export function reachOf({ host, port }: pg.Client): { path: string } | { host: string; port: number } {
  return host.startsWith('/') ? { path: `${host}/.s.PGSQL.${port}` } : { host, port };
}

import { once } from 'node:events';
import { type AddressInfo, connect, createServer, type Socket } from 'node:net';
import pg from 'pg';
import type { TestDatabase } from './database.js';
import { reachOf } from './proxy.js';

export interface PoolerOptions {
  /** `session`: a session keeps its server process. `transaction`: it gets one for each transaction. */
  mode: 'session' | 'transaction';
  /** Keeps the startup parameter `options` to itself, as poolers do that are told to ignore it. */
  drops?: boolean;
  /** Refuses who sends `options`, as PgBouncer does unless it is told to ignore it. */
  refuses?: boolean;
  /** Where it works by transactions: so many server processes at most, for all sessions. */
  most?: number;
}

export interface Pooler {
  url: string;
  close(): Promise<void>;
}

/** A server process, and whom it serves now. */
interface Backend {
  socket: Socket;
  feed: (bytes: Buffer) => void;
  user: { take(message: Buffer): void } | undefined;
}

const READY = 'Z'.charCodeAt(0);
const ENDS_A_TRIP = new Set(['Q', 'S'].map((letter) => letter.charCodeAt(0)));
const REFUSAL = (() => {
  const fields = Buffer.from('SFATAL\0C08P01\0Munsupported startup parameter: options\0\0');
  const head = Buffer.from('E\0\0\0\0');
  head.writeUInt32BE(4 + fields.length, 1);
  return Buffer.concat([head, fields]);
})();
const IDLE = 'I'.charCodeAt(0);

/** A connection pooler in front of the database, as small as can be; whoever logs in does so at the database. */
export async function openPooler(
  database: TestDatabase,
  { mode, drops = false, refuses = false, most = 100 }: PoolerOptions,
): Promise<Pooler> {
  const target = new pg.Client({ connectionString: database.url });
  const sockets = new Set<Socket>();
  const idle: Backend[] = [];
  const queue: ((backend: Backend) => void)[] = [];

  const giveBack = (backend: Backend): void => {
    backend.user = undefined;
    const next = queue.shift();
    if (next !== undefined) next(backend);
    else if (idle.length < most) idle.push(backend);
    else backend.socket.destroy();
  };
  const keep = (socket: Socket): Socket => {
    sockets.add(socket);
    return socket.on('error', () => undefined).on('close', () => sockets.delete(socket));
  };
  const connectBackend = (): Backend => {
    const socket = keep(connect(reachOf(target)));
    const backend: Backend = { socket, user: undefined, feed: (bytes) => void socket.write(bytes) };
    socket.on(
      'data',
      messages((message) => backend.user?.take(message)),
    );
    return backend;
  };

  const serve = (near: Socket): void => {
    keep(near);
    let backend: Backend | undefined = connectBackend();
    let owed = 1;
    let unsent: Buffer[] = [];
    const user = {
      take: (message: Buffer): void => {
        near.write(message);
        if (message[0] !== READY) return;
        owed -= 1;
        if (mode === 'session' || owed > 0 || message.at(-1) !== IDLE) return;
        const done = backend!;
        backend = undefined;
        giveBack(done);
      },
    };
    const hold = (taken: Backend): void => {
      backend = taken;
      taken.user = user;
      for (const message of unsent.splice(0)) taken.feed(message);
    };
    backend.user = user;
    const ask = (message: Buffer): void => {
      if (message[0] === 'X'.charCodeAt(0) && mode === 'transaction') return;
      if (ENDS_A_TRIP.has(message[0]!)) owed += 1;
      if (backend !== undefined) return backend.feed(message);
      unsent.push(message);
      if (unsent.length > 1) return;
      const free = idle.pop();
      if (free !== undefined) hold(free);
      else queue.push(hold);
    };
    near.on(
      'data',
      messages(ask, (startup) => {
        if (refuses && startup.includes('options\0')) near.end(REFUSAL);
        else backend!.feed(drops ? withoutOptions(startup) : startup);
      }),
    );
    near.on('close', () => {
      unsent = [];
      if (mode === 'session') backend?.socket.destroy();
    });
    backend.socket.on('close', () => void (mode === 'session' && near.destroy()));
  };
  const server = createServer(serve);
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const url = new URL(`postgres://127.0.0.1:${(server.address() as AddressInfo).port}/${target.database}`);
  url.username = target.user ?? '';
  url.password = target.password ?? '';
  return {
    url: url.href,
    close: async () => {
      const closed = once(server, 'close');
      server.close();
      for (const socket of sockets) socket.destroy();
      await closed;
    },
  };
}

/** Cuts a stream into messages; `startup`: what takes the first, which has no letter. */
function messages(each: (message: Buffer) => void, startup?: (message: Buffer) => void): (bytes: Buffer) => void {
  let held = Buffer.alloc(0);
  let first = startup !== undefined;
  return (bytes) => {
    held = Buffer.concat([held, bytes]);
    for (;;) {
      const head = first ? 0 : 1;
      if (held.length < head + 4) return;
      const length = head + held.readUInt32BE(head);
      if (held.length < length) return;
      const message = held.subarray(0, length);
      held = held.subarray(length);
      if (first) startup!(message);
      else each(message);
      first = false;
    }
  };
}

function withoutOptions(startup: Buffer): Buffer {
  const words = startup.subarray(8, -2).toString().split('\0');
  const at = words.indexOf('options');
  if (at >= 0) words.splice(at, 2);
  const body = Buffer.from(`${words.join('\0')}\0\0`);
  const head = Buffer.from(startup.subarray(0, 8));
  head.writeUInt32BE(8 + body.length);
  return Buffer.concat([head, body]);
}

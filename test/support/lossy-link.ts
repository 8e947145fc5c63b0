import { type AddressInfo, connect, createServer, type Socket } from 'node:net';
import pg from 'pg';
import type { TestDatabase } from './database.js';

/** A way to the database that can lose the answer to a COMMIT: it happens, and nobody is told. */
export interface LossyLink {
  /** The same database, reached over this link; its `sql` goes past it. */
  database: TestDatabase;
  /** The next COMMIT is carried out; its connection breaks before the answer comes through. */
  loseNextCommit(): void;
  /** Does something at the next COMMIT: instead of passing it on, or instead of passing its answer on. */
  atNextCommit(instead: 'unsent' | 'unanswered', act: () => void): void;
  close(): void;
}

export async function openLossyLink(database: TestDatabase): Promise<LossyLink> {
  const target = new pg.Client({ connectionString: database.url });
  const { host, port } = target;
  const reach = host.startsWith('/') ? { path: `${host}/.s.PGSQL.${port}` } : { host, port };
  const sockets = new Set<Socket>();
  let armed: { instead: 'unsent' | 'unanswered'; act: (near: Socket) => void } | undefined;

  const link = createServer((near) => {
    const far = connect(reach);
    let losing: typeof armed;
    for (const socket of [near, far]) {
      sockets.add(socket);
      socket.on('error', () => undefined);
      socket.on('close', () => {
        sockets.delete(socket);
        near.destroy();
        far.destroy();
      });
    }
    near.on('data', (sent) => {
      if (armed !== undefined && sent.includes('COMMIT')) [armed, losing] = [undefined, armed];
      if (losing?.instead === 'unsent') losing.act(near);
      else far.write(sent);
    });
    far.on('data', (answer) => {
      // It may have been sent with the statements before it, whose answers come through.
      if (losing === undefined || !answer.includes('COMMIT')) near.write(answer);
      else losing.act(near);
    });
  });
  await new Promise<void>((resolve) => link.listen(0, '127.0.0.1', resolve));

  const url = new URL(`postgres://127.0.0.1:${(link.address() as AddressInfo).port}/${target.database}`);
  url.username = target.user ?? '';
  url.password = target.password ?? '';
  return {
    database: { ...database, url: url.href },
    loseNextCommit: () => (armed = { instead: 'unanswered', act: (near) => near.destroy() }),
    atNextCommit: (instead, act) => (armed = { instead, act }),
    close: () => {
      link.close();
      for (const socket of sockets) socket.destroy();
    },
  };
}

import { type AddressInfo, connect, createServer, type Socket } from 'node:net';
import pg from 'pg';
import type { TestDatabase } from './database.js';

/** A way to the database that can lose the answer to a COMMIT: it happens, and nobody is told. */
export interface LossyLink {
  /** The same database, reached over this link; its `sql` goes past it. */
  database: TestDatabase;
  /** The next COMMIT is carried out; its connection breaks before the answer comes through. */
  loseNextCommit(): void;
  close(): void;
}

export async function openLossyLink(database: TestDatabase): Promise<LossyLink> {
  const target = new pg.Client({ connectionString: database.url });
  const { host, port } = target;
  const reach = host.startsWith('/') ? { path: `${host}/.s.PGSQL.${port}` } : { host, port };
  const sockets = new Set<Socket>();
  let armed = false;

  const link = createServer((near) => {
    const far = connect(reach);
    let losing = false;
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
      if (armed && sent.includes('COMMIT')) [armed, losing] = [false, true];
      far.write(sent);
    });
    far.on('data', (answer) => {
      if (losing) near.destroy();
      else near.write(answer);
    });
  });
  await new Promise<void>((resolve) => link.listen(0, '127.0.0.1', resolve));

  const url = new URL(`postgres://127.0.0.1:${(link.address() as AddressInfo).port}/${target.database}`);
  url.username = target.user ?? '';
  url.password = target.password ?? '';
  return {
    database: { ...database, url: url.href },
    loseNextCommit: () => (armed = true),
    close: () => {
      link.close();
      for (const socket of sockets) socket.destroy();
    },
  };
}

import { connect } from 'node:net';
import { text } from 'node:stream/consumers';
import { afterAll, afterEach, beforeAll, describe, expect, it, jest } from '@jest/globals';
import { R } from '../support/contracts.js';
import { createDatabase, type TestDatabase } from '../support/database.js';
import { eventually } from '../support/eventually.js';
import { sender } from '../support/http.js';
import { blockedOn, park } from '../support/parked.js';
import { PlayedNode } from '../support/played-node.js';
import { openProxy } from '../support/proxy.js';
import { openSession } from '../support/session.js';
import { spawnServer, type SpawnedServer } from '../support/spawned-server.js';

// The start of a process takes a second, and more where the machine is busy.
jest.setTimeout(60_000);

describe('a signal to stop', () => {
  let database: TestDatabase;
  const spawned: SpawnedServer[] = [];
  beforeAll(async () => {
    database = await createDatabase();
  });
  afterEach(async () => {
    for (const server of spawned.splice(0)) server.child.kill('SIGKILL');
    expect(await database.sql('SELECT * FROM invariants')).toEqual([]);
  });
  afterAll(() => database.drop());

  const start = (url = database.url): SpawnedServer => {
    const server = spawnServer({ DATABASE_URL: url, MEDIATOR_RENEW_SECONDS: '3600' });
    spawned.push(server);
    return server;
  };
  it('reaches a server that `npm start` has started, though the signal is sent to npm alone', async () => {
    const env = { DATABASE_URL: database.url, HOME: process.env.HOME ?? '/' };
    const server = spawnServer(env, ['npm', 'start']);
    const send = sender(await server.url());
    expect((await send('GET', '/readyz')).status).toBe(200);

    await server.stop();

    await eventually('nobody answers there any more', () =>
      send('GET', '/livez').then(
        () => false,
        () => true,
      ),
    );
  });

  const connections = (): Promise<unknown[]> =>
    database.sql(
      "SELECT pid FROM pg_stat_activity WHERE datname = current_database() AND application_name LIKE 'mediator%'",
    );

  /** A request whose last line break is missing: it is under way, and answered when that is sent. */
  const begin = (url: string, path: string) => {
    const socket = connect(Number(new URL(url).port), '127.0.0.1');
    socket.write(`GET ${path} HTTP/1.1\r\nHost: localhost\r\n`);
    return {
      finish: (): Promise<string> => {
        socket.write('\r\n');
        return text(socket);
      },
    };
  };

  it('E8 SIGTERM while claims are parked: all are answered, and it exits with 0 within 5 s', async () => {
    const server = start();
    const send = sender(await server.url());
    const claims: Promise<{ status: number; body: unknown }>[] = [];
    for (const nodeId of ['n1', 'n1', 'n2', 'nobody']) {
      claims.push((await park(database, () => new PlayedNode(send, nodeId, []).claim(300))).answer);
    }

    const since = performance.now();
    server.child.kill('SIGTERM');

    expect((await Promise.all(claims)).map(({ status }) => status)).toEqual([204, 204, 204, 204]);
    expect(await server.exited).toBe(0);
    expect(performance.now() - since).toBeLessThan(5000);
    await eventually('its connections are closed', async () => (await connections()).length === 0);
  });

  it('what is under way ends, its sweep too; everything else is 503, and a second signal changes nothing', async () => {
    const server = start();
    const url = await server.url();
    const send = sender(url);
    await new PlayedNode(send, 'n1', [{ role: 'x' }]).advertise();
    for (const run_id of ['a', 'b']) await send('POST', '/v1/runs', { body: R('x', { run_id }) });
    const { answer: claim } = await park(database, () => new PlayedNode(send, 'n2', []).claim(300));
    const late = { ready: begin(url, '/readyz'), live: begin(url, '/livez'), runs: begin(url, '/v1/runs/a') };
    const other = await openSession(database);
    await other.sql('BEGIN');
    await other.sql("SELECT FROM runs WHERE run_id = 'a' FOR UPDATE");
    const cancelled = send('POST', '/v1/runs/a/cancel');
    await blockedOn(database, 'records.lock-run');

    server.child.kill('SIGTERM');
    expect((await claim).status).toBe(204);
    server.child.kill('SIGTERM');
    const [ready, live, runs] = await Promise.all([late.ready.finish(), late.live.finish(), late.runs.finish()]);
    expect(ready).toMatch(/^HTTP\/1\.1 503 [\s\S]*"phase":"stopping"/);
    expect(live).toMatch(/^HTTP\/1\.1 200 /);
    expect(runs).toMatch(/^HTTP\/1\.1 503 [\s\S]*application\/problem\+json[\s\S]*"code":"unavailable"/);
    expect(runs.toLowerCase()).toContain('\r\nretry-after: ');
    await other.sql('ROLLBACK');
    await other.close();

    expect(await cancelled).toMatchObject({ status: 200, body: { state: 'CANCELLED', record: { state: 'SEALED' } } });
    expect(await server.exited).toBe(0);
    expect(await database.sql('SELECT run_id, state, promoted_whys FROM runs ORDER BY run_id')).toEqual([
      { run_id: 'a', state: 'CANCELLED', promoted_whys: null },
      { run_id: 'b', state: 'RUNNING', promoted_whys: ['cancel'] },
    ]);
    expect(await connections()).toEqual([]);
  });

  it.each(['SIGTERM', 'SIGINT'] as const)('%s while it waits for its database: it exits with 0', async (signal) => {
    const proxy = await openProxy(database);
    await proxy.cut();
    const server = start(proxy.database.url);
    await eventually('it waits for its database', () => server.output().includes('does not answer yet'), 30);
    server.child.kill(signal);
    expect(await server.exited).toBe(0);
  });
});

import { afterAll, afterEach, beforeAll, describe, expect, it, jest } from '@jest/globals';
import { readConfig } from '../../src/platform/config/read-config.js';
import { startMediator } from '../../src/start-mediator.js';
import { needs, R, step } from '../support/contracts.js';
import { createDatabase, type TestDatabase } from '../support/database.js';
import { eventually } from '../support/eventually.js';
import { type Send, sender } from '../support/http.js';
import { startTestMediator, type TestMediator } from '../support/mediator.js';
import { park } from '../support/parked.js';
import { expectProblem } from '../support/problem.js';
import { openProxy, type Proxy } from '../support/proxy.js';
import { show, states, submitAll } from '../support/queue.js';

// Reconnecting takes pauses of its own.
jest.setTimeout(30_000);

const STORED = ['mediator_runs{state="QUEUED"}', 'mediator_queue_depth', 'mediator_queue_oldest_wait_seconds'];

describe('a database that goes away and comes back', () => {
  let database: TestDatabase;
  let proxy: Proxy;
  let server: TestMediator;
  beforeAll(async () => {
    database = await createDatabase();
    proxy = await openProxy(database);
    server = await startTestMediator({ database: proxy.database });
  });
  afterEach(async () => {
    expect(await server.violations()).toEqual([]);
  });
  afterAll(async () => {
    await server.close();
    await proxy.cut();
    await database.drop();
  });

  const figures = async (send: Send): Promise<string> => (await send<string>('GET', '/metrics')).body;
  const works = (): Promise<unknown> =>
    eventually('the server works again', async () => (await server.send('GET', '/readyz')).status === 200);
  const listeners = (count: number): Promise<unknown> =>
    eventually(`${count} servers listen`, async () => {
      const found = await database.sql(
        `SELECT 1 FROM pg_stat_activity WHERE datname = current_database() AND application_name = 'mediator-listen'`,
      );
      return found.length === count;
    });

  it('everything under /v1 is 503 with Retry-After, the process lives, is not ready, and works again by itself', async () => {
    const n1 = server.node('n1', [{ role: 'x' }]);
    await n1.advertise();
    expect(await submitAll(server, R('x', { run_id: 'a' }), R('x', { run_id: 'b' }))).toEqual([201, 202]);
    const claimed = (await n1.claim()).body;
    expect((await server.send('GET', '/readyz')).body).toMatchObject({ status: 'ok' });
    const stored = await figures(server.send);
    for (const name of STORED) expect(stored).toContain(`\n${name} `);

    await proxy.cut();

    const asks: [string, string, object?][] = [
      ['GET', '/v1/runs/a'],
      ['GET', '/v1/runs'],
      ['GET', '/v1/queue'],
      ['GET', '/v1/nodes'],
      ['GET', '/v1/capabilities'],
      ['GET', '/v1/runs/a/record'],
      ['POST', '/v1/runs', R('x', { run_id: 'c' })],
      ['POST', '/v1/runs/dry-run', R('x')],
      ['POST', '/v1/runs/a/cancel'],
      ['POST', '/v1/nodes', { node_id: 'n2', capabilities: [] }],
      ['POST', '/v1/nodes/n1/claim?wait=0'],
    ];
    for (const [method, path, body] of asks) {
      const answer = await server.send(method, path, { body });
      expectProblem(answer, 503, 'unavailable', path.split('?')[0]);
      expect(Number(answer.headers.get('retry-after'))).toBeGreaterThanOrEqual(1);
      expect(JSON.stringify(answer.body)).not.toMatch(/ECONN|127\.0\.0\.1|SELECT|\.js/);
    }
    expectProblem(await n1.report(claimed), 503, 'unavailable');
    expect(await server.send('GET', '/livez')).toMatchObject({ status: 200, body: { status: 'ok' } });
    const ready = await server.send('GET', '/readyz');
    expect(ready).toMatchObject({ status: 503, body: { status: 'error', error: { database: { status: 'down' } } } });
    expect(ready.body.info).toMatchObject({ server: { status: 'up' } });
    // Whether it is there is asked ten times a second at most.
    const own = await eventually('the figures of the database are left out', async () => {
      const told = await figures(server.send);
      return !STORED.some((name) => told.includes(`\n${name} `)) && told;
    });
    expect(own).toContain('mediator_wakes_total{why="enqueued"}');

    await proxy.restore();
    await works();

    expect(await states(server, 'a', 'b')).toEqual(['RUNNING', 'QUEUED']);
    expect((await server.send('GET', '/v1/runs/c')).status).toBe(404);
    expect((await n1.report(claimed)).body.run_state).toBe('SUCCEEDED');
    expect((await n1.work()).body).toMatchObject({ run_id: 'b', run_state: 'SUCCEEDED' });
    await eventually('none waits', async () => (await figures(server.send)).includes(`\n${STORED[0]} 0\n`));
  });

  it('a parked claim goes on waiting, and gets what became ready meanwhile once the server listens again', async () => {
    // Another server with a way of its own makes the step ready: its notice is lost to the first.
    const other = await startTestMediator({ database });
    try {
      const [n3, n4] = [server.node('n3', [{ role: 'y' }]), server.node('n4', [{ role: 'z' }])];
      await n3.advertise();
      await n4.advertise();
      const steps = [step('one', 'y'), step('two', 'z')];
      expect(await submitAll(server, { run_id: 'both', requires: [needs('y'), needs('z')], steps })).toEqual([201]);
      await listeners(2);
      const { answer } = await park(database, () => n4.claim(30));
      // What the claim saw has come back by the same way as this.
      expect((await server.send('GET', '/v1/nodes')).status).toBe(200);
      let answered = false;
      void answer.then(() => (answered = true));

      await proxy.cut();
      await listeners(1);
      expect((await other.node('n3').work()).body).toMatchObject({ step_state: 'DONE', run_state: 'RUNNING' });
      expect([answered, (await show(other, 'both')).steps[1].state]).toEqual([false, 'PENDING']);

      await proxy.restore();

      const { status, body } = await answer;
      expect([status, body.run_id, body.seq]).toEqual([200, 'both', 2]);
      expect((await other.node('n4').report(body)).body.run_state).toBe('SUCCEEDED');
    } finally {
      await other.stop();
    }
  });

  it('notifications reach it again afterwards: a claim is woken by what another server does', async () => {
    const other = await startTestMediator({ database });
    try {
      const n5 = server.node('n5', [{ role: 'w' }]);
      await n5.advertise();
      await listeners(2);
      const { answer } = await park(database, () => n5.claim(30));
      expect(await submitAll(other, R('w', { run_id: 'woken' }))).toEqual([201]);
      const { body } = await answer;
      expect(body.run_id).toBe('woken');
      await n5.report(body);
    } finally {
      await other.stop();
    }
  });
});

describe('a database that is away when the server starts', () => {
  it('the port is open and answers 503 until it is there; then the server is ready by itself', async () => {
    const database = await createDatabase();
    const proxy = await openProxy(database);
    await proxy.cut();
    let send: Send | undefined;
    const env = { DATABASE_URL: proxy.database.url, PORT: '0', LOG_LEVEL: 'silent' };
    const starting = startMediator(readConfig(env), (url) => (send = sender(url)));
    try {
      await eventually('the port is open', () => send !== undefined);
      for (const path of ['/v1/runs', '/v1/nowhere', '/v1'])
        expectProblem(await send!('GET', path), 503, 'unavailable');
      expect((await send!('GET', '/readyz')).body).toMatchObject({
        status: 'error',
        error: { server: { status: 'down', phase: 'starting' }, database: { status: 'down' } },
      });
      expect((await send!('GET', '/livez')).status).toBe(200);
      expect(await figures()).not.toContain('mediator_queue_depth');

      await proxy.restore();
      const mediator = await starting;

      expect((await send!('GET', '/v1/runs')).body).toEqual({ items: [], next: null });
      expect((await send!('GET', '/readyz')).status).toBe(200);
      await eventually('the figures are there', async () => (await figures()).includes('\nmediator_queue_depth 0\n'));
      await mediator.stop();
    } finally {
      await (await starting).stop();
      await proxy.cut();
      await database.drop();
    }

    async function figures(): Promise<string> {
      return (await send!<string>('GET', '/metrics')).body;
    }
  });
});

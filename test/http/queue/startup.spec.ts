import { beforeEach, describe, expect, it, jest } from '@jest/globals';
import { Logger } from '@nestjs/common';
import { readConfig } from '../../../src/platform/config/read-config.js';
import { atFailpoints } from '../../../src/platform/failpoints.js';
import { ServerPresence } from '../../../src/reaper/servers/server-presence.js';
import { startMediator } from '../../../src/start-mediator.js';
import { R } from '../../support/contracts.js';
import { eventually } from '../../support/eventually.js';
import { type Send, sender } from '../../support/http.js';
import { letTimePass } from '../../support/let-time-pass.js';
import { once } from '../../support/failpoints.js';
import { cancel, countWakes, promotion, states, submit, submitAll } from '../../support/queue.js';
import { databaseSuite, serverSuite } from '../../support/server-suite.js';

describe('the start with a queue that waits beside a free node', () => {
  const database = databaseSuite({ perTest: true });

  /** a held N1 and is over; b and c wait, and the server went away before it had swept. */
  beforeEach(async () => {
    const server = await database.start();
    await server.node('N1', [{ role: 'x' }]).advertise();
    const runs = ['a', 'b', 'c'].map((run_id) => R('x', { run_id }));
    expect(await submitAll(server, ...runs)).toEqual([201, 202, 202]);
    once('sweep.begin', () => {
      throw new Error('the process dies here');
    });
    expect((await cancel(server, 'a')).status).toBe(200);
    expect(await states(server, 'a', 'b', 'c')).toEqual(['CANCELLED', 'QUEUED', 'QUEUED']);
    await server.stop();
  });

  it('B10 startup: no request under /v1 gets another answer than 503 before the queue was swept', async () => {
    let send: Send | undefined;
    const asked = new Map<string, number[]>();
    const stateOfB = async () => (await database.sql("SELECT state FROM runs WHERE run_id = 'b'"))[0]!.state;
    const asks = [
      ['GET', '/v1/runs/b'],
      ['GET', '/v1/queue'],
      ['POST', '/v1/nodes', { node_id: 'N1', capabilities: [] }],
      ['POST', '/v1/runs', R('x', { run_id: 'd' })],
      ['POST', '/v1/runs/b/cancel'],
      ['GET', '/readyz'],
    ] as const;
    const states = new Map<string, unknown>();
    atFailpoints(async (name) => {
      if (!['sweep.begin', 'sweep.read', 'promote.before-commit', 'promote.committed'].includes(name)) return;
      states.set(name, await stateOfB());
      const answers = await Promise.all(asks.map(([method, path, body]) => send!(method, path, { body })));
      asked.set(
        name,
        answers.map(({ status }) => status),
      );
    });
    const config = readConfig({
      DATABASE_URL: database.url,
      PORT: '0',
      LOG_LEVEL: 'silent',
      MEDIATOR_RENEW_SECONDS: '3600',
      MEDIATOR_LEASE_TTL_SECONDS: '10800',
    });
    const mediator = await startMediator(config, (url) => (send = sender(url)));
    atFailpoints(undefined);
    try {
      const refused = [503, 503, 503, 503, 503, 503];
      expect([...asked]).toEqual([
        ['sweep.begin', refused],
        ['sweep.read', refused],
        ['promote.before-commit', refused],
        ['promote.committed', refused],
      ]);
      expect([...states.values()]).toEqual(['QUEUED', 'QUEUED', 'QUEUED', 'RUNNING']);
      expect(await send!('GET', '/v1/runs/b')).toMatchObject({ status: 200, body: { state: 'RUNNING' } });
      expect(await send!('GET', '/v1/runs/c')).toMatchObject({ status: 200, body: { state: 'QUEUED' } });
      expect((await send!('GET', '/v1/runs/d')).status).toBe(404);
      expect((await send!('GET', '/readyz')).status).toBe(200);
      expect(await database.sql("SELECT promoted_whys FROM runs WHERE run_id = 'b'")).toEqual([
        { promoted_whys: ['startup'] },
      ]);
      expect((await send!('GET', '/metrics')).body).toContain('mediator_wakes_total{why="startup"} 1\n');
    } finally {
      await mediator.stop();
    }
  });

  it('a promotion that fails by itself at start is made up for by the pass after the first, which comes at once', async () => {
    const seen = { tried: 0, passes: 0 };
    let failing = true;
    atFailpoints((name) => {
      if (name === 'forget-changes.committed') seen.passes += 1;
      if (name !== 'promote.before-grant' || !failing) return;
      seen.tried += 1;
      throw new Error('what it needs is not there yet');
    });
    const server = await database.start();
    const triedAtStart = seen.tried;
    expect(triedAtStart).toBeGreaterThan(0);
    await eventually('the first pass is over', () => seen.passes === 1);
    expect(seen.tried).toBe(triedAtStart);
    failing = false;
    await server.reap();
    expect(await promotion(server, 'b')).toEqual({ state: 'RUNNING', whys: ['owed'], holds: ['N1'] });
  });

  it('B10 the start-up sweep fails: the server serves all the same, and its first pass makes up for it', async () => {
    let sweeps = 0;
    let letGo: () => void = () => undefined;
    const held = new Promise<void>((resolve) => (letGo = resolve));
    atFailpoints(async (name) => {
      if (name !== 'sweep.begin') return;
      if (++sweeps === 1) throw new Error('the sweep fails');
      await held;
    });
    const server = await database.start();
    try {
      expect((await server.send('GET', '/readyz')).status).toBe(200);
      expect((await server.send('GET', '/v1/queue')).body).toMatchObject({ depth: 2 });
      expect(await states(server, 'b', 'c')).toEqual(['QUEUED', 'QUEUED']);
      expect(await server.figure('mediator_sweeps_total{result="failed"}')).toBe(1);
      letGo();
      await eventually('b runs', async () => (await states(server, 'b'))[0] === 'RUNNING');
      expect(await promotion(server, 'b')).toEqual({ state: 'RUNNING', whys: ['owed'], holds: ['N1'] });
      expect(await promotion(server, 'c')).toEqual({ state: 'QUEUED', whys: null, holds: [] });
      // Made up for: the next pass has nothing to do.
      const counted = await countWakes(server);
      await server.reap();
      expect(await counted()).toEqual({ wakes: {}, sweeps: {} });
    } finally {
      letGo();
      await server.stop();
    }
  });
});

/** Its adverts live 180 s, and it is silent after 120. */
const SLOW = { MEDIATOR_RENEW_SECONDS: '60', MEDIATOR_NOT_AFTER_FACTOR: '3' };
/** 40 s, and 20. */
const QUICK = { MEDIATOR_RENEW_SECONDS: '20', MEDIATOR_NOT_AFTER_FACTOR: '2', MEDIATOR_MAX_LEASES_PER_RUN: '7' };

describe('servers of one database with other periods', () => {
  const slow = serverSuite({
    env: SLOW,
    tidy: async () => {
      await database.sql("DELETE FROM servers WHERE settings->>'MEDIATOR_RENEW_SECONDS' IS DISTINCT FROM '60'");
      await slow.mediator.app.get(ServerPresence).touch();
    },
  });
  const { database } = slow;

  const unseen = (seconds: number): Promise<unknown> =>
    database.sql('UPDATE servers SET seen_at = seen_at - make_interval(secs => $1)', [seconds]);
  const insert = (seen: number, renew: number | null, factor: number | null, stopped = false): Promise<unknown> =>
    database.sql(
      `INSERT INTO servers (server_id, seen_at, stopped_at, renew_seconds, factor)
       SELECT gen_random_uuid(), at, CASE WHEN $4 THEN at END, $2, $3
         FROM (SELECT clock_timestamp() - make_interval(secs => $1) AS at) AS seen`,
      [seen, renew, factor, stopped],
    );
  const revived = async (): Promise<string[]> => {
    const rows = await database.sql<{ node_id: string }>('SELECT node_id FROM nodes WHERE revived ORDER BY node_id');
    return rows.map((row) => row.node_id);
  };

  it('one with a short period takes the silence between two words of another for no outage, and nobody for lost', async () => {
    await slow.node('N1', [{ role: 'x' }]).advertise();
    expect((await submit(slow, R('x', { run_id: 'a' }))).status).toBe(201);
    await unseen(50);
    const quick = await database.start({ env: QUICK });
    expect(await revived()).toEqual([]);
    await unseen(50);
    const counted = await countWakes(quick);
    expect(await quick.reap()).toMatchObject({ servers: 0, errors: 0 });
    expect(await counted()).toEqual({ wakes: {}, sweeps: {} });
    expect(await revived()).toEqual([]);
    expect(await states(quick, 'a')).toEqual(['RUNNING']);
    expect(await database.sql('SELECT FROM servers WHERE stopped_at IS NULL')).toHaveLength(2);
  });

  it('an outage of all of them is found, and a node is given the longest time that one of them tells it', async () => {
    const quick = await database.start({ env: QUICK });
    await slow.node('N2', [{ role: 'y' }]).advertise();
    await letTimePass(database, 150);
    await quick.mediator.app.get(ServerPresence).touch();
    expect(await revived()).toContain('N2');
    const [{ left }] = (await database.sql<{ left: number }>(
      "SELECT extract(epoch FROM expires_at - clock_timestamp())::float8 AS left FROM nodes WHERE node_id = 'N2'",
    )) as [{ left: number }];
    expect(left).toBeGreaterThan(170);
    expect(left).toBeLessThanOrEqual(180);
  });

  it('one with a long period takes another for lost by its short one; an older version, which tells none, by its own', async () => {
    await insert(50, 20, 2);
    await insert(50, null, null);
    await insert(50, 60, 2);
    expect(await slow.reap()).toMatchObject({ servers: 1, errors: 0 });
    expect(await slow.reap()).toMatchObject({ servers: 0, errors: 0 });
    await unseen(140);
    await slow.mediator.app.get(ServerPresence).touch();
    expect(await slow.reap()).toMatchObject({ servers: 2, errors: 0 });
  });

  it('one that has stopped hides no outage of those who came after it, whatever its period was', async () => {
    await slow.node('N3', [{ role: 'z' }]).advertise();
    await insert(1000, 3600, 3, true);
    await letTimePass(database, 150);
    await slow.mediator.app.get(ServerPresence).touch();
    expect(await revived()).toContain('N3');
  });

  it('and where it was the last to be there its own period counts: a restart with a shorter one is no outage', async () => {
    await slow.node('N4', [{ role: 'w' }]).advertise();
    await database.sql('DELETE FROM servers');
    await insert(100, 60, 3, true);
    await database.start({ env: QUICK });
    expect(await revived()).not.toContain('N4');
  });

  it('a start that finds a living server with other settings warns, with each and both values', async () => {
    const warned = jest.spyOn(Logger.prototype, 'warn').mockImplementation(() => undefined);
    const quick = await database.start({
      env: { ...QUICK, MEDIATOR_ASK_WEBHOOK_URL: 'http://127.0.0.1:9/secret' },
    });
    await quick.stop();
    const lines = warned.mock.calls.map(([line]) => line as { msg: string; server_id?: string });
    const told = lines.filter(({ msg }) => msg.startsWith('another server of this database has different settings'));
    expect(told).toEqual([
      expect.objectContaining({
        differing: [
          'MEDIATOR_RENEW_SECONDS is 20 here and 60 there',
          'MEDIATOR_NOT_AFTER_FACTOR is 2 here and 3 there',
          'MEDIATOR_MAX_LEASES_PER_RUN is 7 here and 0 there',
          'MEDIATOR_ASK_WEBHOOK_URL is set here and not set there',
        ],
        server_id: slow.mediator.app.get(ServerPresence).serverId,
      }),
    ]);
    expect(JSON.stringify(lines)).not.toContain('secret');
  });

  it('neither one with the same settings nor one that has stopped, or is lost, is warned of', async () => {
    const stopped = await database.start({ env: QUICK });
    await stopped.stop();
    const warned = jest.spyOn(Logger.prototype, 'warn').mockImplementation(() => undefined);
    await insert(10, 20, 2);
    const same = await database.start({ env: SLOW });
    await same.stop();
    expect(warned.mock.calls).toEqual([]);
  });
});

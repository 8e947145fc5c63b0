import { describe, expect, it } from '@jest/globals';
import { atFailpoints } from '../../../src/platform/failpoints.js';
import { ServerPresence } from '../../../src/reaper/servers/server-presence.js';
import { R, step } from '../../support/contracts.js';
import { eventually } from '../../support/eventually.js';
import { letTimePass } from '../../support/let-time-pass.js';
import { blockedOn } from '../../support/parked.js';
import { openSession } from '../../support/session.js';
import { hold } from '../../support/failpoints.js';
import { cancel, countWakes, promotion, show, states, submit, submitAll } from '../../support/queue.js';
import { serverSuite } from '../../support/server-suite.js';

/** Adverts and renewed leases live 180 s; an outage is more than 120 s without a server. */
const ENV = { MEDIATOR_RENEW_SECONDS: '60', MEDIATOR_NOT_AFTER_FACTOR: '3', MEDIATOR_LEASE_TTL_SECONDS: '180' };

describe('after an outage', () => {
  const server = serverSuite({ env: ENV });
  const { database } = server;
  let made = 0;
  let role: string;

  /** Nodes of a role of its own. */
  async function fleet(...names: string[]): Promise<void> {
    role = `o${++made}`;
    for (const name of names) await node(name).advertise();
  }
  const node = (name: string) => {
    const played = server.node(`${role}-${name}`, [{ role }]);
    played.instance = 'boot-1';
    return played;
  };
  const run = (name: string, more: object = {}) => R(role, { run_id: `${role}-${name}`, ...more });
  const revived = async (): Promise<string[]> => {
    const rows = await database.sql<{ node_id: string }>(
      'SELECT node_id FROM nodes WHERE revived AND starts_with(node_id, $1) ORDER BY node_id',
      [`${role}-`],
    );
    return rows.map((row) => row.node_id.slice(role.length + 1));
  };
  const wayOf = {
    'at start': async (seconds: number): Promise<void> => {
      await server.stop();
      await letTimePass(database, seconds);
      await server.restart();
      await server.reap();
    },
    'in a pass, since the database was away': async (seconds: number): Promise<void> => {
      await letTimePass(database, seconds);
      await server.reap();
    },
  };
  const ways = Object.keys(wayOf) as (keyof typeof wayOf)[];

  it.each(ways)('B29 nothing is taken from nodes before they could speak, %s', async (way) => {
    await fleet('N1', 'N2', 'N3');
    const runs = [run('a'), run('b'), run('c'), run('d')];
    expect(await submitAll(server, ...runs)).toEqual([201, 201, 201, 202]);
    const claim = (await node('N1').claim()).body;
    expect((await node('N2').claim()).status).toBe(200);
    expect((await cancel(server, `${role}-c`)).status).toBe(200);
    expect((await cancel(server, `${role}-d`)).status).toBe(200);

    await wayOf[way](3600);

    expect(await states(server, `${role}-a`, `${role}-b`)).toEqual(['RUNNING', 'RUNNING']);
    expect(await revived()).toEqual(['N1', 'N2', 'N3']);
    // N3 is live and free, and was not heard of: it is offered to nobody.
    expect((await submit(server, run('e'))).status).toBe(202);
    expect(await show(server, `${role}-e`)).toMatchObject({
      waiting: { reason: 'BUSY', detail: expect.stringContaining('Not heard from since the server came back') },
    });
    // N1 speaks, keeps its run and ends it.
    const spoken = await node('N1').advertise();
    expect(spoken.body.leases).toMatchObject([{ run_id: `${role}-a` }]);
    expect(await states(server, `${role}-e`)).toEqual(['QUEUED']);
    const counted = await countWakes(server);
    expect((await node('N3').advertise()).body.leases).toMatchObject([{ run_id: `${role}-e` }]);
    expect(await counted()).toEqual({ wakes: { 'node-joined': 1 }, sweeps: { clean: 1 } });
    expect((await node('N1').report(claim)).body).toMatchObject({ run_state: 'SUCCEEDED' });
    // N2 does not speak in the time it was given.
    await database.sql(
      "UPDATE leases SET not_after = not_after - interval '180 s' WHERE node_id = $1 AND not_after < clock_timestamp() + interval '181 s'",
      [`${role}-N2`],
    );
    expect(await server.reap()).toMatchObject({ expired: 1, errors: 0 });
    expect(await show(server, `${role}-b`)).toMatchObject({ state: 'FAILED', verdict: { reason: 'lease_expired' } });
  });

  it('what had run out before stays so, and so does all of it after a short absence', async () => {
    await fleet('N1', 'N2');
    expect((await submit(server, run('a'))).status).toBe(201);
    await letTimePass(database, 100);
    await server.reap();
    expect(await revived()).toEqual([]);

    const [n1, n2] = [`${role}-N1`, `${role}-N2`];
    await database.sql("UPDATE nodes SET expires_at = clock_timestamp() - interval '1 s' WHERE node_id = $1", [n2]);
    await letTimePass(database, 3600);
    await server.reap();
    expect(await revived()).toEqual(['N1']);
    const { body } = await server.send('GET', '/v1/nodes?all=true');
    const live = body.items.filter((one: any) => [n1, n2].includes(one.node_id)).map((one: any) => one.live);
    expect(live).toEqual([true, false]);
    expect(await states(server, `${role}-a`)).toEqual(['RUNNING']);
  });

  it('a step that ran out of time meanwhile ends only when its node has spoken and not reported', async () => {
    await fleet('N1');
    expect((await submit(server, run('a', { steps: [{ ...step('one', role), timeout_seconds: 10 }] }))).status).toBe(
      201,
    );
    expect((await node('N1').claim()).status).toBe(200);
    await letTimePass(database, 3600);
    expect(await server.reap()).toMatchObject({ timeouts: 0, errors: 0 });
    await node('N1').advertise();
    expect(await server.reap()).toMatchObject({ timeouts: 1, errors: 0 });
    expect(await show(server, `${role}-a`)).toMatchObject({ state: 'FAILED', verdict: { reason: 'step_timeout' } });
  });

  it('of two that find the same outage the second silences no node that has spoken in between', async () => {
    await fleet('N1');
    await letTimePass(database, 3600);
    const presence = server.mediator.app.get(ServerPresence);
    const { reached, letGo } = hold('touch:reaper.read-outage');
    const first = presence.touch();
    await reached;
    await presence.touch();
    expect((await node('N1').advertise()).status).toBe(200);
    letGo();
    await first;
    expect(await revived()).toEqual([]);
  });

  it('a node that speaks before anybody has looked for the outage has been heard of', async () => {
    await fleet('N1', 'N2');
    await letTimePass(database, 3600);
    await node('N1').advertise();
    await server.reap();
    expect(await revived()).toEqual(['N2']);
  });

  it('a lease that ran out while the database stood still in the middle of a pass is left to the next look', async () => {
    await fleet('N1');
    expect((await submit(server, run('a'))).status).toBe(201);
    let stood = false;
    atFailpoints(async (name) => {
      if (name !== 'touch.committed' || stood) return;
      stood = true;
      await letTimePass(database, 3600);
    });
    expect(await server.reap()).toMatchObject({ expired: 0, errors: 0 });
    expect(stood).toBe(true);
    expect(await server.reap()).toMatchObject({ expired: 0, errors: 0 });
    expect(await states(server, `${role}-a`)).toEqual(['RUNNING']);
    expect(await revived()).toEqual(['N1']);
  });
});

describe('the rows of servers', () => {
  const server = serverSuite({ env: ENV });
  const insert = (seen: number, stopped: boolean): Promise<object[]> =>
    server.database.sql(
      `INSERT INTO servers (server_id, seen_at, stopped_at)
       SELECT gen_random_uuid(), at, CASE WHEN $2 THEN at END FROM (SELECT clock_timestamp() - make_interval(secs => $1) AS at) x`,
      [seen, stopped],
    );
  const rows = async (): Promise<number> => (await server.database.sql('SELECT FROM servers')).length;

  it('a server unseen for renew × factor is removed, and the pass wakes once; one that stopped or was seen is not', async () => {
    const n1 = server.node('N1', [{ role: 'x' }]);
    await n1.advertise({ drain: 'graceful' });
    expect((await submit(server, R('x', { run_id: 'b' }))).status).toBe(202);
    await insert(170, false);
    await insert(3600, true);
    const counted = await countWakes(server);
    expect(await server.reap()).toMatchObject({ servers: 0, errors: 0 });
    expect(await counted()).toEqual({ wakes: {}, sweeps: {} });
    expect(await rows()).toBe(3);

    await insert(190, false);
    await insert(999, false);
    // As if one of them had died between the commit that freed the node and its wake.
    await server.database.sql("UPDATE nodes SET drain = ''");
    expect(await server.reap()).toMatchObject({ servers: 2, errors: 0 });
    expect(await counted()).toEqual({ wakes: { 'server-lost': 1 }, sweeps: { clean: 1 } });
    expect(await promotion(server, 'b')).toEqual({ state: 'RUNNING', whys: ['server-lost'], holds: ['N1'] });
    expect(await rows()).toBe(3);
    await server.reap();
    expect(await counted()).toEqual({ wakes: { 'server-lost': 1 }, sweeps: { clean: 1 } });
  });

  it('a row that stopped more than a day ago is forgotten', async () => {
    const before = await rows();
    await insert(86_500, true);
    await server.reap();
    expect(await rows()).toBe(before);
  });

  it('a server that was taken for lost writes its row again', async () => {
    await server.database.sql('DELETE FROM servers');
    await server.reap();
    expect(await rows()).toBe(1);
  });

  it('a clean stop marks the row, and one with a sweep still owed does not', async () => {
    const { database } = server;
    for (const owed of [false, true]) {
      const other = await database.start({ env: ENV });
      const [own] = await database.sql<{ server_id: string }>(
        'SELECT server_id FROM servers ORDER BY started_at DESC LIMIT 1',
      );
      if (owed) {
        atFailpoints((name) => {
          if (name === 'sweep.begin') throw new Error('forced');
        });
        await other.node('N2', [{ role: 'y' }]).advertise();
      }
      await other.mediator.stop();
      atFailpoints(undefined);
      expect(
        await database.sql('SELECT stopped_at IS NOT NULL AS stopped FROM servers WHERE server_id = $1', [
          own!.server_id,
        ]),
      ).toEqual([{ stopped: !owed }]);
    }
  });

  it('a stop that cuts off who may still release does not mark the row: another takes it for lost, and wakes', async () => {
    const { database } = server;
    await database.sql('UPDATE servers SET stopped_at = seen_at');
    const other = await database.start({ env: { ...ENV, MEDIATOR_STOP_SECONDS: '1' } });
    await other.node('N4', [{ role: 'cut' }]).advertise();
    expect(await submitAll(other, R('cut', { run_id: 'cut-a' }), R('cut', { run_id: 'cut-b' }))).toEqual([201, 202]);
    const session = await openSession(database);
    await session.sql('BEGIN');
    await session.sql("SELECT FROM runs WHERE run_id = 'cut-a' FOR UPDATE");
    const cancelled = cancel(other, 'cut-a').catch(() => 'cut off');
    await blockedOn(database, 'records.lock-run');
    await other.stop();
    expect(await cancelled).toBe('cut off');
    await session.sql('ROLLBACK');
    await session.close();
    expect(await database.sql('SELECT FROM servers WHERE stopped_at IS NULL')).toHaveLength(1);
  });

  it('a server keeps its row fresh by itself, and finds an outage so', async () => {
    const { database } = server;
    const other = await database.start({ env: { ...ENV, MEDIATOR_RENEW_SECONDS: '1.5' } });
    await other.node('N3', [{ role: 'z' }]).advertise();
    // Nor is the first server, whose silence is two minutes, any more there to be spoken to.
    await letTimePass(database, 200);
    const revived = eventually('the node is revived', async () => {
      const [row] = await database.sql<{ revived: boolean }>("SELECT revived FROM nodes WHERE node_id = 'N3'");
      return row!.revived;
    });
    expect(await revived).toBe(true);
  });
});

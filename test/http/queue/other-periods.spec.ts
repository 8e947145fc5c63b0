import { Logger } from '@nestjs/common';
import { afterAll, afterEach, beforeAll, describe, expect, it, jest } from '@jest/globals';
import { ServerPresence } from '../../../src/reaper/servers/server-presence.js';
import { R } from '../../support/contracts.js';
import { createDatabase, type TestDatabase } from '../../support/database.js';
import { letTimePass } from '../../support/let-time-pass.js';
import { startTestMediator, type TestMediator } from '../../support/mediator.js';
import { countWakes, states, submit } from '../../support/queue.js';

/** Its adverts live 180 s, and it is silent after 120. */
const SLOW = { MEDIATOR_RENEW_SECONDS: '60', MEDIATOR_NOT_AFTER_FACTOR: '3' };
/** 40 s, and 20. */
const QUICK = { MEDIATOR_RENEW_SECONDS: '20', MEDIATOR_NOT_AFTER_FACTOR: '2', MEDIATOR_MAX_LEASES_PER_RUN: '7' };

describe('servers of one database with other periods', () => {
  let database: TestDatabase;
  let slow: TestMediator;
  beforeAll(async () => {
    database = await createDatabase();
    slow = await startTestMediator({ database, env: SLOW });
  });
  afterEach(async () => {
    jest.restoreAllMocks();
    expect(await slow.violations()).toEqual([]);
    await database.sql("DELETE FROM servers WHERE settings->>'MEDIATOR_RENEW_SECONDS' IS DISTINCT FROM '60'");
    await slow.mediator.app.get(ServerPresence).touch();
  });
  afterAll(async () => {
    await slow.stop();
    await database.drop();
  });

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
    const quick = await startTestMediator({ database, env: QUICK });
    try {
      expect(await revived()).toEqual([]);
      await unseen(50);
      const counted = await countWakes(quick);
      expect(await quick.reap()).toMatchObject({ servers: 0, errors: 0 });
      expect(await counted()).toEqual({ wakes: {}, sweeps: {} });
      expect(await revived()).toEqual([]);
      expect(await states(quick, 'a')).toEqual(['RUNNING']);
      expect(await database.sql('SELECT FROM servers WHERE stopped_at IS NULL')).toHaveLength(2);
    } finally {
      await quick.stop();
    }
  });

  it('an outage of all of them is found, and a node is given the longest time that one of them tells it', async () => {
    const quick = await startTestMediator({ database, env: QUICK });
    try {
      await slow.node('N2', [{ role: 'y' }]).advertise();
      await letTimePass(database, 150);
      await quick.mediator.app.get(ServerPresence).touch();
      expect(await revived()).toContain('N2');
      const [{ left }] = (await database.sql<{ left: number }>(
        "SELECT extract(epoch FROM expires_at - clock_timestamp())::float8 AS left FROM nodes WHERE node_id = 'N2'",
      )) as [{ left: number }];
      expect(left).toBeGreaterThan(170);
      expect(left).toBeLessThanOrEqual(180);
    } finally {
      await quick.stop();
    }
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
    const quick = await startTestMediator({ database, env: QUICK });
    try {
      expect(await revived()).not.toContain('N4');
    } finally {
      await quick.stop();
    }
  });

  it('a start that finds a living server with other settings warns, with each and both values', async () => {
    const warned = jest.spyOn(Logger.prototype, 'warn').mockImplementation(() => undefined);
    const quick = await startTestMediator({
      database,
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
    const stopped = await startTestMediator({ database, env: QUICK });
    await stopped.stop();
    const warned = jest.spyOn(Logger.prototype, 'warn').mockImplementation(() => undefined);
    await insert(10, 20, 2);
    const same = await startTestMediator({ database, env: SLOW });
    await same.stop();
    expect(warned.mock.calls).toEqual([]);
  });
});

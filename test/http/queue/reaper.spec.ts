import { afterAll, afterEach, beforeAll, describe, expect, it } from '@jest/globals';
import { R } from '../../support/contracts.js';
import { startTestMediator, type TestMediator } from '../../support/mediator.js';
import { countWakes, promotion, show, states, submit, submitAll } from '../../support/queue.js';

describe('the reaper and the queue', () => {
  let server: TestMediator;
  beforeAll(async () => {
    server = await startTestMediator();
  });
  afterEach(async () => expect(await server.violations()).toEqual([]));
  afterAll(() => server.close());

  const runOut = (...runIds: string[]): Promise<object[]> =>
    server.database.sql("UPDATE leases SET not_after = clock_timestamp() - interval '1 s' WHERE run_id = ANY ($1)", [
      runIds,
    ]);

  it('B5 reaper: a lease that runs out ends its run and promotes the next, in one sweep for the whole pass', async () => {
    const n1 = server.node('B5-N1', [{ role: 'b5' }]);
    await n1.advertise();
    await server.node('B5-N2', [{ role: 'b5' }]).advertise();
    const runs = ['b5-a1', 'b5-a2', 'b5-b', 'b5-c', 'b5-d'].map((run_id) => R('b5', { run_id }));
    expect(await submitAll(server, ...runs)).toEqual([201, 201, 202, 202, 202]);
    const { body: claim } = await n1.claim();
    await runOut('b5-a1', 'b5-a2');
    const counted = await countWakes(server);

    expect(await server.reap()).toMatchObject({ expired: 2, leftovers: 0, sealed: 2, errors: 0 });

    for (const runId of ['b5-a1', 'b5-a2']) {
      expect(await show(server, runId)).toMatchObject({
        state: 'FAILED',
        verdict: { reason: 'lease_expired', by: { kind: 'server' } },
        steps: [{ state: 'CANCELLED' }],
        record: { state: 'SEALED' },
      });
    }
    expect(await promotion(server, 'b5-b')).toEqual({ state: 'RUNNING', whys: ['reaper'], holds: ['B5-N1'] });
    expect(await promotion(server, 'b5-c')).toEqual({ state: 'RUNNING', whys: ['reaper'], holds: ['B5-N2'] });
    expect(await promotion(server, 'b5-d')).toEqual({ state: 'QUEUED', whys: null, holds: [] });
    expect(await counted()).toEqual({ wakes: { reaper: 1 }, sweeps: { clean: 1 } });
    expect(await n1.report(claim)).toMatchObject({ status: 409, body: { code: 'stale_lease' } });
  });

  it('B6 a pass that releases nothing does not sweep', async () => {
    await server.node('B6-N1', [{ role: 'b6' }]).advertise();
    expect(await submitAll(server, R('b6', { run_id: 'b6-a' }), R('b6', { run_id: 'b6-b' }))).toEqual([201, 202]);
    const counted = await countWakes(server);
    expect(await server.reap()).toMatchObject({ expired: 0, leftovers: 0, sealed: 0, errors: 0 });
    expect(await server.reap()).toMatchObject({ expired: 0, leftovers: 0, sealed: 0, errors: 0 });
    expect(await counted()).toEqual({ wakes: {}, sweeps: {} });
    expect(await states(server, 'b6-a', 'b6-b')).toEqual(['RUNNING', 'QUEUED']);
  });

  it('B7 a lease that outlived its run is removed, and who waits for its node is promoted', async () => {
    const n1 = server.node('B7-N1', [{ role: 'b7' }]);
    await n1.advertise();
    expect((await submit(server, R('b7', { run_id: 'b7-a' }))).status).toBe(201);
    expect((await n1.work()).body.run_state).toBe('SUCCEEDED');
    const { record } = await show(server, 'b7-a');
    await server.database.sql(
      "INSERT INTO leases (node_id, run_id, not_after) VALUES ('B7-N1', 'b7-a', clock_timestamp() + interval '1 h')",
    );
    expect((await submit(server, R('b7', { run_id: 'b7-b' }))).status).toBe(202);
    const counted = await countWakes(server);

    expect(await server.reap()).toMatchObject({ expired: 0, leftovers: 1, sealed: 0, errors: 0 });

    expect(await promotion(server, 'b7-b')).toEqual({ state: 'RUNNING', whys: ['reaper'], holds: ['B7-N1'] });
    expect(await counted()).toEqual({ wakes: { reaper: 1 }, sweeps: { clean: 1 } });
    // The record of the run that is over is as it was; only its history tells of the deletion.
    expect(await show(server, 'b7-a')).toMatchObject({ state: 'SUCCEEDED', record });
    expect(
      await server.database.sql("SELECT kind, data FROM events WHERE run_id = 'b7-a' ORDER BY id DESC LIMIT 1"),
    ).toEqual([{ kind: 'leftover_lease_deleted', data: { node_id: 'B7-N1' } }]);
    expect(await server.database.sql("SELECT 1 FROM grants WHERE run_id = 'b7-a' AND released_at IS NULL")).toEqual([]);
  });

  it('never touches a run that waits, however old it is', async () => {
    await server.node('OLD-N1', [{ role: 'old' }]).advertise();
    expect(await submitAll(server, R('old', { run_id: 'old-a' }), R('old', { run_id: 'old-b' }))).toEqual([201, 202]);
    await server.database.sql(
      "UPDATE runs SET created_at = created_at - interval '1 year', queued_at = queued_at - interval '1 year' WHERE run_id = 'old-b'",
    );
    const before = await show(server, 'old-b');
    for (let pass = 0; pass < 3; pass++) await server.reap();
    expect(await show(server, 'old-b')).toEqual(before);
    expect(before).toMatchObject({ state: 'QUEUED', record: { state: 'OPEN', digest: null } });
  });
});

import { randomUUID } from 'node:crypto';
import { afterAll, afterEach, beforeAll, describe, expect, it } from '@jest/globals';
import { ExpiredRuns } from '../../src/reaper/expired-runs.js';
import { LeftoverLeases } from '../../src/reaper/leftovers.js';
import { OverdueSteps } from '../../src/reaper/overdue.js';
import { LostServers } from '../../src/reaper/servers/lost-servers.js';
import { needs, R, step } from '../support/contracts.js';
import { startTestMediator, type TestMediator } from '../support/mediator.js';
import { cancel, promotion, show, submit, submitAll } from '../support/queue.js';

// A part of the reaper finds without a lock: by the time it reaps, what it has found may be something else.
describe('what the reaper has found, and is otherwise by the time it is locked', () => {
  let server: TestMediator;
  beforeAll(async () => {
    server = await startTestMediator();
  });
  afterEach(async () => {
    expect(await server.violations()).toEqual([]);
  });
  afterAll(() => server.close());

  it('a lease that outlived its run: it is deleted, and the node is the next run’s', async () => {
    await server.node('L-N', [{ role: 'l' }]).advertise();
    expect(await submitAll(server, R('l', { run_id: 'l-a' }), R('l', { run_id: 'l-b' }))).toEqual([201, 202]);
    await cancel(server, 'l-a');
    expect(await server.mediator.app.get(LeftoverLeases).reap({ node_id: 'L-N', run_id: 'l-a' })).toBe(false);
    expect(await promotion(server, 'l-b')).toMatchObject({ state: 'RUNNING', holds: ['L-N'] });
  });

  it('a lease that ran out: its run is over, and a lease of it is left', async () => {
    await server.node('E-N', [{ role: 'e' }]).advertise();
    expect(await submitAll(server, R('e', { run_id: 'e-a' }))).toEqual([201]);
    await cancel(server, 'e-a');
    await server.database.sql(
      "INSERT INTO leases (node_id, run_id, not_after, nonce, roles) VALUES ('E-N', 'e-a', clock_timestamp(), 'n', '{e}')",
    );
    expect(await server.mediator.app.get(ExpiredRuns).reap('e-a')).toBe(false);
    expect(await show(server, 'e-a')).toMatchObject({ state: 'CANCELLED', verdict: { reason: 'cancelled' } });
    expect(await server.reap()).toMatchObject({ leftovers: 1, errors: 0 });
  });

  it('a step out of time: it was reported', async () => {
    const node = server.node('T-N', [{ role: 't' }]);
    await node.advertise();
    const steps = [step('one', 't', { timeout_seconds: 1 }), step('two', 't')];
    expect((await submit(server, { run_id: 't-a', requires: [needs('t')], steps })).status).toBe(201);
    const { body: claim } = await node.claim();
    await server.database.sql(
      "UPDATE steps SET started_at = started_at - interval '1 day' WHERE run_id = 't-a' AND seq = 1",
    );
    await node.report(claim);
    expect(await server.mediator.app.get(OverdueSteps).reap({ run_id: 't-a', seq: 1 })).toBe(false);
    expect((await show(server, 't-a')).state).toBe('RUNNING');
    await cancel(server, 't-a');
  });

  it.each([
    ['it has spoken', ', seen_at = clock_timestamp()'],
    ['it has stopped by itself', ', stopped_at = clock_timestamp()'],
  ])('a server that was not seen: %s', async (_what, meanwhile) => {
    const serverId = randomUUID();
    await server.database.sql(
      "INSERT INTO servers (server_id, seen_at) VALUES ($1, clock_timestamp() - interval '1 day')",
      [serverId],
    );
    const lost = server.mediator.app.get(LostServers);
    expect(await lost.find()).toEqual([serverId]);
    await server.database.sql(`UPDATE servers SET server_id = server_id ${meanwhile} WHERE server_id = $1`, [serverId]);
    expect(await lost.reap(serverId)).toBe(false);
    await server.database.sql('DELETE FROM servers WHERE server_id = $1', [serverId]);
  });
});

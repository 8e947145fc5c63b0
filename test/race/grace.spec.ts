import { afterEach, describe, expect, it } from '@jest/globals';
import { Lifecycle } from '../../src/platform/lifecycle.js';
import { atFailpoints } from '../../src/platform/failpoints.js';
import { QueueService } from '../../src/queue/queue.service.js';
import { needs, R, step } from '../support/contracts.js';
import { createDatabase, type TestDatabase } from '../support/database.js';
import { startTestMediator, type TestMediator } from '../support/mediator.js';
import { once } from '../support/points.js';
import { cancel, countWakes, promotion, states, submitAll } from '../support/queue.js';

describe('the end of the grace', () => {
  const open: { close(): Promise<unknown> }[] = [];
  afterEach(async () => {
    atFailpoints(undefined);
    for (const one of open.splice(0).reverse()) await one.close();
  });

  /** A server, three nodes that a run holds, and three runs that wait for one of them each. */
  async function crowded(): Promise<{ database: TestDatabase; server: TestMediator }> {
    const database = await createDatabase();
    open.push({ close: () => database.drop() });
    const server = await startTestMediator({ database });
    open.push(server);
    for (const node of ['N1', 'N2', 'N3']) await server.node(node, [{ role: 'x' }]).advertise();
    const all = { run_id: 'all', requires: [needs('x', { count: 3 })], steps: [step('only', 'x')] };
    const waiting = ['a', 'b', 'c'].map((run_id) => R('x', { run_id }));
    expect(await submitAll(server, all, ...waiting)).toEqual([201, 202, 202, 202]);
    return { database, server };
  }

  it('during a sweep: it stops between two runs, is owed, and another server does the rest', async () => {
    const { database, server } = await crowded();
    const counted = await countWakes(server);
    once('promote.committed', () => server.mediator.app.get(Lifecycle).endGrace());

    expect((await cancel(server, 'all')).status).toBe(200);

    expect(await states(server, 'a', 'b', 'c')).toEqual(['RUNNING', 'QUEUED', 'QUEUED']);
    expect(await counted()).toEqual({ wakes: { cancel: 1 }, sweeps: { incomplete: 1 } });
    expect(server.mediator.app.get(QueueService).owed).toBe(true);
    expect(await server.violations()).toEqual([]);
    await server.stop();
    // Its row is there for others to find: something is owed.
    expect(await database.sql('SELECT stopped_at FROM servers')).toEqual([{ stopped_at: null }]);

    const next = await startTestMediator({ database });
    open.push(next);
    expect(await states(next, 'a', 'b', 'c')).toEqual(['RUNNING', 'RUNNING', 'RUNNING']);
    expect((await promotion(next, 'b')).whys).toEqual(['startup']);
    expect(await next.violations()).toEqual([]);
  });

  it('during a pass of the reaper: it stops between two runs, and the next pass does the rest', async () => {
    const { database, server } = await crowded();
    await cancel(server, 'all');
    await database.sql("UPDATE leases SET not_after = clock_timestamp() - interval '1 s'");
    once('expire.committed', () => server.mediator.app.get(Lifecycle).endGrace());

    expect(await server.reap()).toMatchObject({ expired: 1, errors: 0 });

    expect((await states(server, 'a', 'b', 'c')).sort()).toEqual(['FAILED', 'RUNNING', 'RUNNING']);
    await server.stop();
    const next = await startTestMediator({ database });
    open.push(next);
    await next.reap();
    expect(await states(next, 'a', 'b', 'c')).toEqual(['FAILED', 'FAILED', 'FAILED']);
    expect(await next.violations()).toEqual([]);
  });
});

import { afterAll, afterEach, beforeAll, describe, expect, it } from '@jest/globals';
import { atFailpoints } from '../../src/platform/failpoints.js';
import { R } from '../support/contracts.js';
import { startTestMediator, type TestMediator } from '../support/mediator.js';
import { blockedOrAnswered } from '../support/parked.js';
import { hold, once } from '../support/points.js';
import { countWakes, promotion, submit } from '../support/queue.js';

describe('two adverts of one node at once', () => {
  let server: TestMediator;
  beforeAll(async () => {
    server = await startTestMediator();
  });
  afterEach(async () => {
    atFailpoints(undefined);
    expect(await server.violations()).toEqual([]);
  });
  afterAll(() => server.close());

  it('the second is judged by what the first has said: a drain that it lifts wakes who waits', async () => {
    const node = server.node('lift-N', [{ role: 'lift' }]);
    await node.advertise();
    const counted = await countWakes(server);
    const draining = hold('advert.before-commit');
    const drained = node.advertise({ drain: 'graceful' });
    await draining.reached;
    const lifted = node.advertise();
    await blockedOrAnswered(server.database, lifted);
    // Whoever looks between the two finds that the node drains.
    once('advert.committed', async () => {
      expect((await submit(server, R('lift', { run_id: 'lift-a' }))).body.state).toMatch(/QUEUED|RUNNING/);
    });
    draining.letGo();

    expect((await drained).body.drain).toBe('graceful');
    expect((await lifted).body.drain).toBe('');
    expect((await counted()).wakes).toMatchObject({ 'drain-lift': 1 });
    expect(await promotion(server, 'lift-a')).toMatchObject({ state: 'RUNNING', holds: ['lift-N'] });
  });

  it('two first ones: the node is there once, and it has what the second has said', async () => {
    const node = server.node('new-N', [{ role: 'new' }]);
    const first = hold('advert.before-commit');
    const one = node.advertise();
    await first.reached;
    const two = node.advertise({ label: 'second' });
    await blockedOrAnswered(server.database, two);
    first.letGo();

    expect([await one, await two].map(({ status }) => status)).toEqual([200, 200]);
    expect(
      await server.database.sql("SELECT label, offer_rev::int AS offers FROM nodes WHERE node_id = 'new-N'"),
    ).toEqual([{ label: 'second', offers: expect.any(Number) }]);
  });
});

import { afterAll, afterEach, beforeAll, describe, expect, it } from '@jest/globals';
import { atFailpoints } from '../../src/platform/failpoints.js';
import { needs, R, step } from '../support/contracts.js';
import { startTestMediator, type TestMediator } from '../support/mediator.js';
import { blockedOn } from '../support/parked.js';
import type { PlayedNode } from '../support/played-node.js';
import { hold } from '../support/points.js';
import { cancel, show } from '../support/queue.js';

describe('claims and renewals that meet something else', () => {
  let server: TestMediator;
  let node: PlayedNode;
  beforeAll(async () => {
    server = await startTestMediator();
    node = server.node('n1', [{ role: 'x' }]);
    node.instance = 'I1';
    await node.advertise();
  });
  afterEach(async () => {
    atFailpoints(undefined);
    expect(await server.violations()).toEqual([]);
  });
  afterAll(() => server.close());

  const submit = async (body: object): Promise<void> => {
    expect((await server.send('POST', '/v1/runs', { body })).status).toBe(201);
  };

  it('E3 one instance that asks several times at once is given one step, each time the same', async () => {
    for (let round = 1; round <= 5; round++) {
      const run_id = `at-once-${round}`;
      const steps = ['one', 'two', 'three'].map((id) => step(id, 'x', { needs: [] }));
      await submit({ run_id, requires: [needs('x')], steps });

      const answers = await Promise.all(Array.from({ length: 6 }, () => node.claim()));

      expect(answers.map(({ status, body }) => [status, body.seq, body.attempt])).toEqual(
        Array.from({ length: 6 }, () => [200, 1, 1]),
      );
      await cancel(server, run_id);
    }
  });

  it('a step that is to be given again while its run is cancelled is not given', async () => {
    await submit(R('x', { run_id: 'gone' }));
    expect((await node.claim()).status).toBe(200);
    const cancelling = hold('cancel.before-commit');
    const cancelled = cancel(server, 'gone');
    await cancelling.reached;

    const again = node.claim();
    await blockedOn(server.database, 'records.lock-run');
    cancelling.letGo();

    expect((await cancelled).body.state).toBe('CANCELLED');
    expect((await again).status).toBe(204);
  });

  it('E5 a heartbeat under way comes before the reaper, which has found the lease run out', async () => {
    await submit(R('x', { run_id: 'alive' }));
    await server.database.sql(
      "UPDATE leases SET not_after = clock_timestamp() - interval '1 s' WHERE run_id = 'alive'",
    );
    const renewing = hold('advert.before-commit');
    const renewed = node.advertise();
    await renewing.reached;

    const reaped = server.reap();
    await blockedOn(server.database, 'leases.lock');
    renewing.letGo();

    expect((await renewed).body.leases).toMatchObject([{ run_id: 'alive' }]);
    expect(await reaped).toMatchObject({ expired: 0, errors: 0 });
    expect((await show(server, 'alive')).state).toBe('RUNNING');
    await cancel(server, 'alive');
  });

  it('fractions of a second are taken for a renew period', async () => {
    const quick = await startTestMediator({ env: { MEDIATOR_RENEW_SECONDS: '0.5' } });
    try {
      const { status, body } = await quick.node('n1', [{ role: 'x' }]).advertise();
      expect([status, body.renew_seconds]).toEqual([200, 0.5]);
      expect(await quick.violations()).toEqual([]);
    } finally {
      await quick.close();
    }
  });
});

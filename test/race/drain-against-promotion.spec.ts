import { afterAll, afterEach, beforeAll, describe, expect, it } from '@jest/globals';
import { R } from '../support/contracts.js';
import { startTestMediator, type TestMediator } from '../support/mediator.js';
import { blockedOn, carriedOut } from '../support/parked.js';
import type { PlayedNode } from '../support/played-node.js';
import { hold } from '../support/points.js';
import { cancel, show, submitAll } from '../support/queue.js';

describe('D9 an advert with drain races a promotion onto that node', () => {
  let server: TestMediator;
  let n1: PlayedNode;
  let made = 0;
  beforeAll(async () => {
    server = await startTestMediator();
  });
  afterEach(async () => {
    expect(await server.violations()).toEqual([]);
  });
  afterAll(() => server.close());

  const leases = (): Promise<unknown[]> =>
    server.database.sql('SELECT run_id, node_id FROM leases WHERE node_id = $1', [n1.nodeId]);

  /** A fresh node that a run holds, and a run that waits for it. Cancels the first, and stops its promotion at the point. */
  const promoteUpTo = async (point: string) => {
    const role = `r${++made}`;
    n1 = server.node(`n${made}`, [{ role }]);
    await n1.advertise();
    const [a, b] = [`a${made}`, `b${made}`];
    expect(await submitAll(server, R(role, { run_id: a }), R(role, { run_id: b }))).toEqual([201, 202]);
    const { reached, letGo } = hold(point);
    const cancelled = cancel(server, a);
    await reached;
    return { b, cancelled, letGo };
  };

  /** The promotion has the node, and is not committed; an advert that drains waits for it. Lets both go on. */
  const drainBehindPromotion = async (drain: string) => {
    const { b, cancelled, letGo } = await promoteUpTo('promote.before-commit');
    await carriedOut(server.database, 'queue.promote');
    const advert = n1.advertise({ drain });
    await blockedOn(server.database, 'nodes.lock-advert');
    letGo();
    const [{ body }] = await Promise.all([advert, cancelled]);
    return { b, body };
  };

  it.each(['graceful', 'at-boundary'])(
    'D9 the advert is first (%s): its answer shows no lease, and the run is not promoted',
    async (drain) => {
      const { b, cancelled, letGo } = await promoteUpTo('promote.before-grant');
      const advert = await n1.advertise({ drain });
      expect([advert.status, advert.body.leases]).toEqual([200, []]);
      letGo();

      expect(await cancelled).toMatchObject({ status: 200, body: { state: 'CANCELLED' } });
      expect(await leases()).toEqual([]);
      expect(await show(server, b)).toMatchObject({
        state: 'QUEUED',
        assigned: [],
        waiting: { reason: 'DRAINING' },
        steps: [{ state: 'PENDING', node_id: null }],
      });
      expect(await server.database.sql('SELECT 1 FROM grants WHERE run_id = $1', [b])).toEqual([]);
      // Nor does anything that comes later promote it, before the drain is lifted.
      await server.reap();
      expect((await n1.advertise({ drain })).body.leases).toEqual([]);
      expect((await n1.advertise()).body.leases).toMatchObject([{ run_id: b }]);
    },
  );

  it('D9 the promotion is first, graceful: the advert waits for it, and its answer shows the lease', async () => {
    const { b, body } = await drainBehindPromotion('graceful');
    expect(body).toMatchObject({ drain: 'graceful', leases: [{ run_id: b, node_id: n1.nodeId }] });
    const claimed = (await n1.claim()).body;
    expect(claimed).toMatchObject({ run_id: b, lease: { nonce: body.leases[0].nonce } });
    expect((await n1.report(claimed)).body.run_state).toBe('SUCCEEDED');
  });

  it('D9 the promotion is first, at-boundary: the advert waits for it, ends the run, and shows no lease', async () => {
    const { b, body } = await drainBehindPromotion('at-boundary');
    expect(body).toMatchObject({ drain: 'at-boundary', leases: [] });
    expect(await leases()).toEqual([]);
    expect(await show(server, b)).toMatchObject({ state: 'CANCELLED', verdict: { reason: 'drained' } });
    expect((await n1.claim()).status).toBe(204);
  });
});

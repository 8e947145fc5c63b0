import { describe, expect, it } from '@jest/globals';
import { needs, R, step } from '../../support/contracts.js';
import { letTimePass } from '../../support/let-time-pass.js';
import { moveClock } from '../../support/move-clock.js';
import type { PlayedNode } from '../../support/played-node.js';
import { cancel, promotion, show, submit } from '../../support/queue.js';
import { serverSuite } from '../../support/server-suite.js';

describe('a step that its node does not begin', () => {
  const server = serverSuite({
    env: { MEDIATOR_START_SECONDS: '600', MEDIATOR_RENEW_SECONDS: '60', MEDIATOR_NOT_AFTER_FACTOR: '100' },
  });
  async function live(nodeId: string): Promise<PlayedNode> {
    const node = server.node(nodeId, [{ role: nodeId }]);
    node.instance = `${nodeId}-I1`;
    await node.advertise();
    return node;
  }
  /** So many seconds in which these nodes went on to speak; then the reaper. Gives how many runs it ended for it. */
  async function pass(seconds: number, ...nodes: PlayedNode[]): Promise<number> {
    await moveClock(server.database, seconds);
    for (const node of nodes) await node.advertise();
    const { unbegun, errors } = await server.reap();
    expect(errors).toBe(0);
    return unbegun;
  }

  it('G6 is FAILED not_started after MEDIATOR_START_SECONDS, and who waits gets the node', async () => {
    const node = await live('late');
    await submit(server, R('late', { run_id: 'late-a' }));
    await submit(server, R('late', { run_id: 'late-b' }));
    expect(await pass(590, node)).toBe(0);
    expect(await pass(20, node)).toBe(1);
    expect(await show(server, 'late-a')).toMatchObject({
      state: 'FAILED',
      verdict: {
        reason: 'not_started',
        by: { kind: 'server' },
        detail: expect.stringMatching(/step only .* node late/),
      },
      steps: [{ state: 'FAILED', attempt: 1, started_at: null, result: { error: 'not begun within 600 s' } }],
      record: { state: 'SEALED' },
    });
    expect(await promotion(server, 'late-b')).toEqual({ state: 'RUNNING', whys: ['reaper'], holds: ['late'] });
    await cancel(server, 'late-b');
  });

  it('G6 not while that node works on another step; then its time begins anew', async () => {
    const node = await live('busy');
    const steps = [step('one', 'busy', { needs: [] }), step('two', 'busy', { needs: [] })];
    await submit(server, { run_id: 'busy', requires: [needs('busy')], steps });
    const claim = (await node.claim()).body;
    expect(await pass(2000, node)).toBe(0);
    await node.report(claim);
    expect(await pass(590, node)).toBe(0);
    expect(await pass(20, node)).toBe(1);
    expect(await show(server, 'busy')).toMatchObject({ state: 'FAILED', verdict: { reason: 'not_started' } });
  });

  it('G6 counts from when the step became ready: what it needs has ended, or its loop went round', async () => {
    const [x, y] = [await live('x'), await live('y')];
    const loop = { back_to: 'first', max: 3, until: { exit_code: 0 } };
    const steps = [step('first', 'y'), step('check', 'x', { loop })];
    await submit(server, { run_id: 'ready', requires: [needs('x'), needs('y')], steps });
    const first = (await y.claim()).body;
    expect(await pass(2000, x, y)).toBe(0);
    await y.report(first);
    expect(await pass(500, x, y)).toBe(0);
    const check = (await x.claim()).body;
    expect(await pass(2000, x, y)).toBe(0);
    expect((await x.report(check, { exit_code: 1 })).body).toMatchObject({ rolled_back: true });
    expect(await pass(590, x, y)).toBe(0);
    expect(await pass(20, x, y)).toBe(1);
    const run = await show(server, 'ready');
    expect(run).toMatchObject({ state: 'FAILED', verdict: { reason: 'not_started' } });
    expect(run.steps).toMatchObject([{ state: 'FAILED', attempt: 2 }, { state: 'CANCELLED' }]);
  });

  it.each([
    ['also where the reaper looks for one first', true],
    ['also where the node speaks first', false],
  ])('G6 counts anew from the first advert after an outage, %s', async (_how, reapsFirst) => {
    const role = `outage-${reapsFirst}`;
    const node = await live(role);
    await submit(server, R(role, { run_id: role }));
    await letTimePass(server.database, 20_000);
    const before = reapsFirst ? [await server.reap()] : [];
    await node.advertise();
    expect([...before, await server.reap()].map(({ unbegun }) => unbegun)).toEqual(reapsFirst ? [0, 0] : [0]);
    expect(await pass(590, node)).toBe(0);
    expect(await pass(20, node)).toBe(1);
  });

  it('a step that is claimed in the last moment goes on', async () => {
    const node = await live('moment');
    await submit(server, R('moment', { run_id: 'moment' }));
    await moveClock(server.database, 610);
    await node.advertise();
    const claim = (await node.claim()).body;
    expect(await pass(0, node)).toBe(0);
    expect((await node.report(claim)).body.run_state).toBe('SUCCEEDED');
  });
});

describe('with MEDIATOR_START_SECONDS=0', () => {
  const server = serverSuite({ env: { MEDIATOR_START_SECONDS: '0' } });
  it('a step may be begun whenever its node likes', async () => {
    const node = server.node('n', [{ role: 'x' }]);
    await node.advertise();
    await submit(server, R('x', { run_id: 'a' }));
    await moveClock(server.database, 100_000);
    await node.advertise();
    expect((await server.reap()).unbegun).toBe(0);
    expect((await node.work()).body.run_state).toBe('SUCCEEDED');
  });
});

import { describe, expect, it } from '@jest/globals';
import { needs, R, step } from '../../support/contracts.js';
import { eventually } from '../../support/eventually.js';
import { letTimePass } from '../../support/let-time-pass.js';
import type { PlayedNode } from '../../support/played-node.js';
import { expectProblem } from '../../support/problem.js';
import { cancel, promotion, show, submit } from '../../support/queue.js';
import { serverSuite } from '../../support/server-suite.js';

/** Adverts live 180 s, and a node is remembered for 600 s after. */
const ENV = {
  MEDIATOR_RENEW_SECONDS: '60',
  MEDIATOR_LEASE_TTL_SECONDS: '3600',
  MEDIATOR_REMEMBER_SECONDS: '600',
};

describe('a node that fell silent', () => {
  const server = serverSuite({ env: ENV });
  const dryRun = (body: object): Promise<any> => server.send('POST', '/v1/runs/dry-run', { body });
  const silence = (nodeId: string, seconds = 0): Promise<unknown> =>
    server.database.sql(
      'UPDATE nodes SET expires_at = clock_timestamp() - make_interval(secs => $2) WHERE node_id = $1',
      [nodeId, seconds],
    );
  async function live(role: string, ...more: Record<string, string>[]): Promise<PlayedNode> {
    const node = server.node(role, [{ role }, ...more]);
    node.instance = 'I1';
    await node.advertise();
    return node;
  }

  it('G7 all nodes fell silent a moment ago: a submission waits OFFLINE; one of them speaks: RUNNING right after', async () => {
    const node = await live('a');
    await silence('a');

    const { status, body } = await submit(server, R('a', { run_id: 'a-1' }));

    expect([status, body.waiting.reason]).toEqual([202, 'OFFLINE']);
    expect(body.waiting.roles).toMatchObject([{ live: 0, free: 0, silent: 1 }]);
    expect(body.waiting.detail).toMatch(
      /no live node does\. Silent: a\. It waits until enough such nodes advertise\.$/,
    );
    expect((await node.claim()).status).toBe(204);
    expect((await node.advertise()).body.leases).toMatchObject([{ run_id: 'a-1' }]);
    expect(await promotion(server, 'a-1')).toEqual({ state: 'RUNNING', whys: ['node-joined'], holds: ['a'] });
    await cancel(server, 'a-1');
  });

  it('G7 after MEDIATOR_REMEMBER_SECONDS it is gone: 422', async () => {
    await live('b');
    await silence('b', 590);
    expect((await submit(server, R('b', { run_id: 'b-1' }))).status).toBe(202);
    await cancel(server, 'b-1');
    await silence('b', 601);
    expectProblem(await submit(server, R('b', { run_id: 'b-2' })), 422, 'unsatisfiable');
    expectProblem(await dryRun(R('b')), 422, 'unsatisfiable');
  });

  it('is gone by the clock alone, with no event in between', async () => {
    await live('c');
    await silence('c', 599);
    expect((await dryRun(R('c'))).status).toBe(200);
    await eventually('it is remembered no more', async () => (await dryRun(R('c'))).status === 422);
  });

  it('is never taken, and counts in a dry run after the live ones', async () => {
    await live('d1', { role: 'd' });
    await live('d2', { role: 'd' });
    await silence('d1');
    const pair = { requires: [needs('d', { count: 2 })], steps: [step('only', 'd')] };
    const { status, body } = await dryRun(pair);
    expect([status, body.assigned[0].nodes.map(({ node_id }: any) => node_id)]).toEqual([200, ['d2', 'd1']]);
    const waits = await submit(server, { ...pair, run_id: 'd-1' });
    expect(waits).toMatchObject({ status: 202, body: { waiting: { reason: 'OFFLINE' } } });
    expect(waits.body.waiting.roles).toMatchObject([{ live: 1, free: 1, silent: 1 }]);
    expectProblem(
      await submit(server, { ...pair, requires: [needs('d', { count: 3 })], run_id: 'd-2' }),
      422,
      'unsatisfiable',
    );
    await cancel(server, 'd-1');
  });

  it('wins over nothing that is permanent: a role that nobody offers is 422 beside one that is silent', async () => {
    await live('e');
    await silence('e');
    const both = { requires: [needs('e'), needs('e-nowhere')], steps: [step('only', 'e')], run_id: 'e-1' };
    const answer = await submit(server, both);
    expectProblem(answer, 422, 'unsatisfiable');
    // It tells the fault that waiting does not mend.
    expect(answer.body.detail).toMatch(/^Role "e-nowhere" needs 1 node .*; no node does\.$/);
    expect(await show(server, 'e-1')).toMatchObject({ state: 'FAILED' });
    const three = { requires: [needs('e', { count: 3 })], steps: [step('only', 'e')], run_id: 'e-2' };
    expect((await submit(server, three)).body.detail).toMatch(/; only 1 node does, silent ones included\.$/);
  });

  it('G10 a node that was forgotten is not remembered', async () => {
    await live('f');
    await silence('f');
    expect((await dryRun(R('f'))).status).toBe(200);
    expect((await server.send('DELETE', '/v1/nodes/f')).status).toBe(204);
    expectProblem(await dryRun(R('f')), 422, 'unsatisfiable');
  });

  it('what was remembered when every server went away is so for as much longer as nobody was there', async () => {
    await live('g');
    await silence('g', 300);
    await server.stop();
    await letTimePass(server.database, 3600);
    await server.restart();
    await server.reap();
    expect((await submit(server, R('g', { run_id: 'g-1' }))).status).toBe(202);
    expect((await server.send<any>('GET', '/v1/nodes/g')).body.live).toBe(false);
    await cancel(server, 'g-1');
    await letTimePass(server.database, 310);
    expectProblem(await submit(server, R('g', { run_id: 'g-2' })), 422, 'unsatisfiable');
  });
});

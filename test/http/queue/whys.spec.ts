import { afterAll, afterEach, beforeAll, describe, expect, it } from '@jest/globals';
import { atFailpoints } from '../../../src/platform/failpoints.js';
import { needs, R, step } from '../../support/contracts.js';
import { startTestMediator, type TestMediator } from '../../support/mediator.js';
import type { PlayedNode } from '../../support/played-node.js';
import { once } from '../../support/points.js';
import { cancel, countWakes, promotion, show, submit, submitAll } from '../../support/queue.js';

// Who wakes, and why. `reaper` and `owed` are in reaper.spec.ts and failing-sweeps.spec.ts, `startup` in startup.spec.ts.
describe('who wakes, and why', () => {
  let server: TestMediator;
  beforeAll(async () => {
    server = await startTestMediator();
  });
  afterEach(async () => {
    atFailpoints(undefined);
    expect(await server.violations()).toEqual([]);
  });
  afterAll(() => server.close());

  /** A live node of the role, held by the run `<role>-a`. */
  async function busyNode(role: string): Promise<PlayedNode> {
    const node = server.node(`${role}-N1`, [{ role }]);
    await node.advertise();
    expect((await submit(server, R(role, { run_id: `${role}-a` }))).status).toBe(201);
    return node;
  }

  /** The run `<role>-b`, which has to wait. */
  async function queued(role: string): Promise<string> {
    expect((await submit(server, R(role, { run_id: `${role}-b` }))).status).toBe(202);
    return `${role}-b`;
  }

  /** Roles `<name>x` and `<name>y` on two nodes, both held by the run `<name>-a`, whose two steps are on the first. */
  async function pair(name: string): Promise<PlayedNode> {
    const [x, y] = [`${name}x`, `${name}y`];
    const node = server.node(`${name}-N1`, [{ role: x }]);
    await node.advertise();
    await server.node(`${name}-N2`, [{ role: y }]).advertise();
    const a = { run_id: `${name}-a`, requires: [needs(x), needs(y)], steps: [step('one', x), step('two', x)] };
    expect(await submitAll(server, a, R(y, { run_id: `${name}-b` }))).toEqual([201, 202]);
    return node;
  }

  it('result: a report that settles its run', async () => {
    const node = await busyNode('settled');
    const waits = await queued('settled');
    const counted = await countWakes(server);
    // A step that failed ends its run and frees the node as well.
    expect((await node.work({ exit_code: 2 })).body).toMatchObject({ step_state: 'FAILED', run_state: 'FAILED' });
    expect(await promotion(server, waits)).toEqual({ state: 'RUNNING', whys: ['result'], holds: ['settled-N1'] });
    expect(await counted()).toEqual({ wakes: { result: 1 }, sweeps: { clean: 1 } });
  });

  it('result: a report that does not settle its run wakes too, and one that is refused does not', async () => {
    const node = await pair('unsettled');
    const { body: claim } = await node.claim();
    const counted = await countWakes(server);
    expect((await node.report(claim)).body).toMatchObject({ step_state: 'DONE', run_state: 'RUNNING' });
    expect(await counted()).toEqual({ wakes: { result: 1 }, sweeps: { clean: 1 } });
    expect((await node.report(claim)).status).toBe(409);
    expect(await counted()).toEqual({ wakes: { result: 1 }, sweeps: { clean: 1 } });
    expect((await promotion(server, 'unsettled-b')).state).toBe('QUEUED');
  });

  it('cancel: once, and not for a run that is over', async () => {
    await busyNode('cancel');
    const waits = await queued('cancel');
    const counted = await countWakes(server);
    expect((await cancel(server, 'cancel-a')).body.state).toBe('CANCELLED');
    expect(await promotion(server, waits)).toEqual({ state: 'RUNNING', whys: ['cancel'], holds: ['cancel-N1'] });
    expect((await cancel(server, 'cancel-a')).status).toBe(200);
    expect((await cancel(server, 'cancel-of-nothing')).status).toBe(404);
    expect(await counted()).toEqual({ wakes: { cancel: 1 }, sweeps: { clean: 1 } });
  });

  it('drained: an advert that drains at the boundary cancels the run between two steps', async () => {
    const node = await pair('boundary');
    const counted = await countWakes(server);
    const { body } = await node.advertise({ drain: 'at-boundary' });
    expect(body).toMatchObject({ drain: 'at-boundary', leases: [] });
    expect(await show(server, 'boundary-a')).toMatchObject({ state: 'CANCELLED', verdict: { reason: 'drained' } });
    expect(await promotion(server, 'boundary-b')).toEqual({
      state: 'RUNNING',
      whys: ['drained'],
      holds: ['boundary-N2'],
    });
    expect(await counted()).toEqual({ wakes: { drained: 1 }, sweeps: { clean: 1 } });
  });

  it('drained: the report that reaches the boundary wakes once, with both of its whys', async () => {
    const node = await pair('reached');
    const { body: claim } = await node.claim();
    const counted = await countWakes(server);
    expect((await node.advertise({ drain: 'at-boundary' })).body.leases).toHaveLength(1);
    expect(await counted()).toEqual({ wakes: {}, sweeps: {} });

    expect((await node.report(claim)).body).toMatchObject({ step_state: 'DONE', run_state: 'CANCELLED' });

    const { state, whys, holds } = await promotion(server, 'reached-b');
    expect({ state, holds }).toEqual({ state: 'RUNNING', holds: ['reached-N2'] });
    expect(new Set(whys)).toEqual(new Set(['result', 'drained']));
    expect(await counted()).toEqual({ wakes: { result: 1, drained: 1 }, sweeps: { clean: 1 } });
  });

  it('B9 node-restart: the advert of a new instance frees the node, and its answer lists the next lease', async () => {
    const node = server.node('B9-N1', [{ role: 'b9' }]);
    node.instance = 'I1';
    await node.advertise();
    expect(await submitAll(server, R('b9', { run_id: 'b9-a' }), R('b9', { run_id: 'b9-b' }))).toEqual([201, 202]);
    const { body: claim } = await node.claim();
    expect(claim).toMatchObject({ run_id: 'b9-a' });
    const counted = await countWakes(server);

    node.instance = 'I2';
    const { body } = await node.advertise();

    expect(body.leases).toEqual([
      { run_id: 'b9-b', node_id: 'B9-N1', nonce: expect.any(String), not_after: expect.any(String) },
    ]);
    expect(await show(server, 'b9-a')).toMatchObject({
      state: 'FAILED',
      verdict: { reason: 'node_restarted', by: { kind: 'node', name: 'B9-N1' } },
      steps: [{ state: 'FAILED' }],
    });
    expect(await promotion(server, 'b9-b')).toEqual({ state: 'RUNNING', whys: ['node-restart'], holds: ['B9-N1'] });
    expect(await counted()).toEqual({ wakes: { 'node-restart': 1 }, sweeps: { clean: 1 } });
    expect(await node.report(claim)).toMatchObject({ status: 409, body: { code: 'stale_lease' } });
  });

  it('drain-lift: the advert that drains no more', async () => {
    await busyNode('lift');
    const other = server.node('lift-N2', [{ role: 'lift' }]);
    await other.advertise({ drain: 'graceful' });
    const waits = await queued('lift');
    const counted = await countWakes(server);
    await other.advertise({ drain: 'at-boundary' });
    expect(await counted()).toEqual({ wakes: {}, sweeps: {} });

    const { body } = await other.advertise();

    expect(body.leases).toMatchObject([{ run_id: waits, node_id: 'lift-N2' }]);
    expect(await promotion(server, waits)).toEqual({ state: 'RUNNING', whys: ['drain-lift'], holds: ['lift-N2'] });
    expect(await counted()).toEqual({ wakes: { 'drain-lift': 1 }, sweeps: { clean: 1 } });
  });

  describe('node-joined', () => {
    async function expectJoined(waits: string, nodeId: string, counted: Awaited<ReturnType<typeof countWakes>>) {
      expect(await promotion(server, waits)).toEqual({ state: 'RUNNING', whys: ['node-joined'], holds: [nodeId] });
      expect(await counted()).toEqual({ wakes: { 'node-joined': 1 }, sweeps: { clean: 1 } });
    }
    const expireIn = (nodeId: string, seconds: number): Promise<object[]> =>
      server.database.sql(
        'UPDATE nodes SET expires_at = clock_timestamp() + make_interval(secs => $2) WHERE node_id = $1',
        [nodeId, seconds],
      );

    it('a node that is new', async () => {
      await busyNode('new');
      const waits = await queued('new');
      const counted = await countWakes(server);
      await server.node('new-N2', [{ role: 'new' }]).advertise();
      await expectJoined(waits, 'new-N2', counted);
    });

    it('a node that comes back after its advert had expired', async () => {
      await busyNode('back');
      const back = server.node('back-N2', [{ role: 'back' }]);
      await back.advertise();
      await expireIn('back-N2', -1);
      const waits = await queued('back');
      const counted = await countWakes(server);
      await back.advertise();
      await expectJoined(waits, 'back-N2', counted);
    });

    it('a node whose advert had less than half a renew period left, and none that had more', async () => {
      await busyNode('late');
      const late = server.node('late-N2', [{ role: 'late' }]);
      await late.advertise();
      // Somebody may have seen it expired: so did this submission.
      await expireIn('late-N2', -1);
      const waits = await queued('late');
      const counted = await countWakes(server);
      await expireIn('late-N2', 1860);
      await late.advertise();
      expect(await counted()).toEqual({ wakes: {}, sweeps: {} });
      expect((await promotion(server, waits)).state).toBe('QUEUED');
      await expireIn('late-N2', 1740);
      await late.advertise();
      await expectJoined(waits, 'late-N2', counted);
    });

    it('B24 an advert that adds an attribute somebody waits for, and none that changes nothing', async () => {
      await busyNode('b24');
      const other = server.node('b24-N2', [{ site: 'lab' }, { role: 'b24z' }]);
      await other.advertise();
      const waits = await queued('b24');
      const counted = await countWakes(server);
      const offer = (...attrs: object[]) =>
        other.advertise({ capabilities: attrs.map((one) => ({ capability: 'board', attrs: one })) });

      await other.advertise();
      await offer({ role: 'b24z' }, { site: 'lab' });
      await offer({ site: 'lab' });
      await other.advertise({ capabilities: [{ capability: 'board', attrs: { site: 'lab' } }], label: 'relabelled' });
      expect(await counted()).toEqual({ wakes: {}, sweeps: {} });
      expect((await promotion(server, waits)).state).toBe('QUEUED');

      const { body } = await offer({ site: 'lab', role: 'b24' });
      expect(body.leases).toMatchObject([{ run_id: waits, node_id: 'b24-N2' }]);
      await expectJoined(waits, 'b24-N2', counted);
    });

    it('a node that drains joins nobody, whatever else is new about it', async () => {
      await busyNode('shy');
      const waits = await queued('shy');
      const counted = await countWakes(server);
      const shy = server.node('shy-N2', [{ role: 'shy' }]);
      await shy.advertise({ drain: 'graceful' });
      await expireIn('shy-N2', -1);
      await shy.advertise({ drain: 'graceful' });
      expect(await counted()).toEqual({ wakes: {}, sweeps: {} });
      // Back after expiry and draining no more: one sweep, with both whys.
      await expireIn('shy-N2', -1);
      await shy.advertise();
      expect(await counted()).toEqual({ wakes: { 'drain-lift': 1, 'node-joined': 1 }, sweeps: { clean: 1 } });
      expect(new Set((await promotion(server, waits)).whys)).toEqual(new Set(['drain-lift', 'node-joined']));
    });
  });

  it('enqueued: what was freed between the look and the commit of the queued row is not missed', async () => {
    await busyNode('window');
    const counted = await countWakes(server);
    once('submit.matched', () => cancel(server, 'window-a'));
    const { status, body } = await submit(server, R('window', { run_id: 'window-b' }));
    expect({ status, state: body.state }).toEqual({ status: 201, state: 'RUNNING' });
    expect(await promotion(server, 'window-b')).toEqual({
      state: 'RUNNING',
      whys: ['enqueued'],
      holds: ['window-N1'],
    });
    expect(await counted()).toEqual({ wakes: { cancel: 1, enqueued: 1 }, sweeps: { clean: 2 } });
  });

  it('what frees nothing wakes nobody: heartbeats, reads, claims, dry runs, a run that starts at once or exists', async () => {
    const node = await busyNode('idle');
    node.instance = 'I1';
    await node.advertise();
    const waits = await queued('idle');
    await server.node('idle-N2', [{ role: 'idle-other' }]).advertise();
    const counted = await countWakes(server);

    for (const drain of [undefined, '', 'graceful', 'graceful']) await node.advertise({ drain });
    node.instance = 'I2';
    await node.advertise({ drain: 'graceful', label: 'another' });
    await node.claim();
    await server.send('GET', '/v1/queue');
    await show(server, waits);
    await server.send('POST', '/v1/runs/dry-run', { body: R('idle') });
    expect(await submitAll(server, R('idle-other'), R('idle', { run_id: waits }))).toEqual([201, 200]);
    expect((await submit(server, R('idle-nowhere'))).status).toBe(422);

    expect(await counted()).toEqual({ wakes: {}, sweeps: {} });
    expect((await promotion(server, waits)).state).toBe('QUEUED');
  });
});

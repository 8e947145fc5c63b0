import { describe, expect, it } from '@jest/globals';
import { needs, R, step } from '../../support/contracts.js';
import type { PlayedNode } from '../../support/played-node.js';
import { once } from '../../support/failpoints.js';
import { cancel, countWakes, promotion, show, states, submit, submitAll } from '../../support/queue.js';
import { serverSuite } from '../../support/server-suite.js';

// Who wakes, and why. `reaper` and `owed` are in reaper.spec.ts and failing-sweeps.spec.ts, `startup` in startup.spec.ts.
describe('who wakes, and why', () => {
  const server = serverSuite();

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
    await node.work();
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

describe('the reaper and the queue', () => {
  const server = serverSuite();
  const runOut = (...runIds: string[]): Promise<object[]> =>
    server.database.sql("UPDATE leases SET not_after = clock_timestamp() - interval '1 s' WHERE run_id = ANY ($1)", [
      runIds,
    ]);

  it('B5 reaper: a lease that runs out ends its run and promotes the next, in one sweep for the whole pass', async () => {
    const [n1, n2] = ['B5-N1', 'B5-N2'].map((id) => server.node(id, [{ role: 'b5' }])) as [PlayedNode, PlayedNode];
    for (const node of [n1, n2]) await node.advertise();
    const runs = ['b5-a1', 'b5-a2', 'b5-b', 'b5-c', 'b5-d'].map((run_id) => R('b5', { run_id }));
    expect(await submitAll(server, ...runs)).toEqual([201, 201, 202, 202, 202]);
    const { body: claim } = await n1.claim();
    expect((await n2.claim()).status).toBe(200);
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

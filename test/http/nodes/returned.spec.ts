import { describe, expect, it } from '@jest/globals';
import { ParkedClaims } from '../../../src/execution/parked-claims.js';
import { needs, R, step } from '../../support/contracts.js';
import { eventually } from '../../support/eventually.js';
import type { PlayedClaim, PlayedNode } from '../../support/played-node.js';
import { cancel, promotion, show, submit, submitAll } from '../../support/queue.js';
import { serverSuite } from '../../support/server-suite.js';

describe('a run whose node fell silent', () => {
  const server = serverSuite();
  const sql = <Row extends object = object>(text: string, params: unknown[] = []): Promise<Row[]> =>
    server.database.sql<Row>(text, params);
  const filesOf = async (runId: string): Promise<Record<string, string>> =>
    (await sql<{ files: Record<string, string> }>('SELECT files FROM records WHERE run_id = $1', [runId]))[0]!.files;

  async function live(nodeId: string, role: string): Promise<PlayedNode> {
    const node = server.node(nodeId, [{ role }]);
    node.instance = `${nodeId}-I1`;
    await node.advertise();
    return node;
  }
  /** Nothing was heard of the node for longer than its advert lived; whatever it did before was that much longer ago. */
  const silence = (node: PlayedNode): Promise<unknown> =>
    sql(
      `WITH steps AS (UPDATE steps SET started_at = started_at - interval '1 day' WHERE node_id = $1 AND state = 'CLAIMED')
       UPDATE nodes SET seen_at = seen_at - interval '1 day', expires_at = clock_timestamp() - interval '1 s' WHERE node_id = $1`,
      [node.nodeId],
    );
  const events = async (runId: string): Promise<{ kind: string; data: any }[]> =>
    sql('SELECT kind, data FROM events WHERE run_id = $1 ORDER BY id', [runId]);
  const log = (claim: PlayedClaim, text = 'late'): Promise<any> =>
    server.send('PUT', `/v1/runs/${claim.run_id}/steps/${claim.seq}/log`, {
      body: text,
      headers: { 'mediator-lease': claim.lease.nonce, 'content-type': 'text/plain' },
    });

  describe.each(['without a claim', 'with a claim of it parked, whose answer is lost'])('%s', (way) => {
    const isParked = way !== 'without a claim';
    it('G3 waits again at its place and is RUNNING on the other node; the record tells of both waits', async () => {
      const role = isParked ? 'g3p' : 'g3';
      const [x, y] = [`${role}-x`, `${role}-y`];
      const n1 = await live(x, role);
      await live(`${role}-o`, `${role}-o`);
      const before = { requires: [needs(role), needs(`${role}-o`)], steps: [step('only', `${role}-o`)] };
      expect(await submitAll(server, { ...before, run_id: `${role}-before` }, R(role, { run_id: role }))).toEqual([
        201, 202,
      ]);
      const parked = isParked ? n1.claim(30) : undefined;
      await eventually('it is parked', () => server.mediator.app.get(ParkedClaims).size === Number(isParked));
      await cancel(server, `${role}-before`);
      const claim = (await parked)?.body;
      const granted = await show(server, role);
      expect(granted).toMatchObject({ state: 'RUNNING', assigned: [{ nodes: [{ node_id: x }] }] });
      await silence(n1);
      const n2 = await live(y, role);
      expect((await submit(server, R(role, { run_id: `${role}-behind` }))).status).toBe(201);
      expect((await submit(server, R(role, { run_id: `${role}-last` }))).status).toBe(202);

      expect(await server.reap()).toMatchObject({ expired: 1, errors: 0 });

      const waits = await show(server, role);
      expect(waits).toMatchObject({ state: 'QUEUED', assigned: [], started_at: null, created_at: granted.created_at });
      expect(waits.waiting).toMatchObject({ reason: 'BUSY', position: 1, roles: [{ live: 1, silent: 1 }] });
      expect(waits.waiting.since > granted.started_at).toBe(true);
      expect(waits.version).toBeGreaterThan(granted.version);
      expect(waits.steps).toMatchObject([{ state: 'PENDING', node_id: null, attempt: 1, started_at: null }]);
      expect(await sql('SELECT FROM attempts WHERE run_id = $1', [role])).toEqual([]);
      expect(waits.record).toEqual({ state: 'OPEN', digest: null });
      expect(await sql('SELECT why FROM grants WHERE run_id = $1', [role])).toEqual([{ why: 'lease_expired' }]);
      expect((await events(role)).find(({ kind }) => kind === 'returned')!.data).toEqual({
        ...{ why: 'lease_expired', reason: 'BUSY', nodes: [x], released: [x] },
      });
      // What its old holder still says changes nothing.
      const late = claim ? [await n1.report(claim), await log(claim)] : [];
      expect(late.map(({ status, body }) => [status, body.code])).toEqual(late.map(() => [409, 'stale_lease']));
      expect((await n1.claim()).status).toBe(204);
      expect(await show(server, role)).toEqual(waits);

      await cancel(server, `${role}-behind`);
      expect(await promotion(server, role)).toEqual({ state: 'RUNNING', whys: ['cancel'], holds: [y] });
      const again = await show(server, role);
      expect(again.started_at > waits.waiting.since).toBe(true);
      expect((await n2.work()).body.run_state).toBe('SUCCEEDED');
      const files = await filesOf(role);
      const manifest = JSON.parse(files['manifest.json']!);
      expect(manifest.waited).toMatchObject([
        { queued_at: granted.created_at, reason: 'BUSY', holders: [{ run_id: `${role}-before` }], whys: ['cancel'] },
        { queued_at: waits.waiting.since, reason: 'BUSY', holders: [{ run_id: `${role}-behind` }], whys: ['cancel'] },
      ]);
      expect(manifest.waiting).toMatchObject({ queued_at: granted.created_at, promoted_by: ['cancel'] });
      expect(manifest.grants.map(({ node_id, why }: any) => [node_id, why])).toEqual([
        [x, 'lease_expired'],
        [y, 'succeeded'],
      ]);
      expect(JSON.parse(files['steps/1-only.json']!).attempts).toMatchObject([{ attempt: 1, node_id: y }]);
      await cancel(server, `${role}-last`);
    });
  });

  it('G3 is RUNNING on a free node within the pass that finds it', async () => {
    const n1 = await live('g3f-x', 'g3f');
    await submit(server, R('g3f', { run_id: 'g3f' }));
    await live('g3f-y', 'g3f');
    await silence(n1);
    expect(await server.reap()).toMatchObject({ expired: 1, errors: 0 });
    expect(await promotion(server, 'g3f')).toEqual({ state: 'RUNNING', whys: ['reaper'], holds: ['g3f-y'] });
    expect(await sql("SELECT wait_reason, wait_holders FROM runs WHERE run_id = 'g3f'")).toEqual([
      { wait_reason: 'BUSY', wait_holders: [] },
    ]);
  });

  it('is taken up again by the node itself, whose claim of before was lost, once it speaks', async () => {
    const n1 = await live('back', 'back');
    await submit(server, R('back', { run_id: 'back' }));
    const lost = (await n1.claim()).body;
    await silence(n1);
    await server.reap();
    expect(await show(server, 'back')).toMatchObject({ state: 'QUEUED', waiting: { reason: 'OFFLINE' } });
    expect((await n1.advertise()).body.leases).toMatchObject([{ run_id: 'back' }]);
    const { body: claim } = await n1.claim();
    expect(claim).toMatchObject({ run_id: 'back', attempt: 1 });
    expect(await n1.report(lost)).toMatchObject({ status: 409, body: { code: 'stale_lease' } });
    expect((await n1.report(claim)).body.run_state).toBe('SUCCEEDED');
  });

  it.each<[string, (node: PlayedNode, claim: PlayedClaim) => Promise<{ status: number }>]>([
    ['it advertised since', (node) => node.advertise()],
    ['it claimed again, and got the step once more', (node) => node.claim()],
    ['it wrote a log', (_node, claim) => log(claim)],
    [
      'it uploaded an output',
      (_node, { run_id, lease }) =>
        server.send('PUT', `/v1/runs/${run_id}/steps/1/blobs/o`, {
          body: 'o',
          headers: { 'mediator-lease': lease.nonce },
        }),
    ],
    ['it reported a step', async (node, claim) => node.report(claim)],
  ])('G4 a step was claimed, and %s: FAILED lease_expired', async (how, speak) => {
    const role = `g4-${how.length}`;
    const node = await live(role, role);
    const run = { run_id: role, requires: [needs(role)], steps: [step('one', role), step('two', role)] };
    expect((await submit(server, run)).status).toBe(201);
    const claim = (await node.claim()).body;
    expect((await speak(node, claim)).status).toBeLessThan(300);
    await silence(node);
    await sql("UPDATE nodes SET seen_at = seen_at + interval '1 day' WHERE node_id = $1 AND $2", [
      role,
      how === 'it advertised since',
    ]);
    expect(await server.reap()).toMatchObject({ expired: 1, errors: 0 });
    expect(await show(server, role)).toMatchObject({ state: 'FAILED', verdict: { reason: 'lease_expired' } });
  });

  it('G4 a claim without an instance counts as repeated when its node claims anew', async () => {
    const node = await live('g4n', 'g4n');
    node.instance = undefined;
    const run = { run_id: 'g4n', requires: [needs('g4n')], steps: [step('one', 'g4n')] };
    await submit(server, run);
    expect((await node.claim()).status).toBe(200);
    expect((await node.claim()).status).toBe(204);
    await silence(node);
    await server.reap();
    expect(await show(server, 'g4n')).toMatchObject({ state: 'FAILED', verdict: { reason: 'lease_expired' } });
  });

  it('G4 another node of it, which is live, has claimed a step: that one may have begun', async () => {
    const [x, y] = [await live('g4x', 'g4x'), await live('g4y', 'g4y')];
    const steps = [step('one', 'g4x', { needs: [] }), step('two', 'g4y', { needs: [] })];
    await submit(server, { run_id: 'g4two', requires: [needs('g4x'), needs('g4y')], steps });
    expect((await y.claim()).status).toBe(200);
    await silence(x);
    await server.reap();
    expect(await show(server, 'g4two')).toMatchObject({ state: 'FAILED', verdict: { reason: 'lease_expired' } });
  });

  it('G5 of three nodes one is silent, nothing begun: all three are given back', async () => {
    const nodes = [await live('g5-a', 'g5'), await live('g5-b', 'g5'), await live('g5-c', 'g5')];
    const run = { run_id: 'g5', requires: [needs('g5', { count: 3 })], steps: [step('only', 'g5')] };
    expect((await submit(server, run)).status).toBe(201);
    const two = { ...run, run_id: 'g5-two', requires: [needs('g5', { count: 2 })] };
    expect((await submit(server, two)).status).toBe(202);
    await silence(nodes[1]!);
    await server.reap();
    expect(await show(server, 'g5')).toMatchObject({ state: 'QUEUED', waiting: { reason: 'OFFLINE', ahead: 0 } });
    expect(await promotion(server, 'g5-two')).toEqual({ state: 'RUNNING', whys: ['reaper'], holds: ['g5-a', 'g5-c'] });
    await cancel(server, 'g5-two');
    expect((await nodes[1]!.advertise()).body.leases).toMatchObject([{ run_id: 'g5' }]);
  });

  it('is found by the lease alone, too: it ran out, and nothing has begun', async () => {
    await live('ttl', 'ttl');
    await submit(server, R('ttl', { run_id: 'ttl' }));
    await sql("UPDATE leases SET not_after = clock_timestamp() - interval '1 s' WHERE node_id = 'ttl'");
    await server.reap();
    expect((await events('ttl')).map(({ kind }) => kind)).toEqual(['granted', 'returned', 'promoted']);
  });

  it('goes back when the node drains at the boundary before anything has begun, and is at its old place', async () => {
    const node = await live('drain', 'drain');
    await submitAll(server, R('drain', { run_id: 'drain-a' }), R('drain', { run_id: 'drain-b' }));
    expect((await node.advertise({ drain: 'at-boundary' })).body.leases).toEqual([]);
    expect(await show(server, 'drain-a')).toMatchObject({
      state: 'QUEUED',
      waiting: { reason: 'DRAINING', position: expect.any(Number), roles: [{ draining: 1, holders: [] }] },
    });
    expect((await events('drain-a')).at(-1)).toMatchObject({
      kind: 'returned',
      data: { why: 'drained', nodes: ['drain'] },
    });
    expect((await node.advertise()).body.leases).toMatchObject([{ run_id: 'drain-a' }]);
  });

  it('goes back as often as it must; a hundred waits are kept of it, the first and the last', async () => {
    const node = await live('often', 'often');
    await submit(server, R('often', { run_id: 'often' }));
    await node.advertise({ drain: 'at-boundary' });
    const [first] = await sql<{ queued_at: Date }>("SELECT queued_at FROM runs WHERE run_id = 'often'");
    await sql(
      `UPDATE runs SET earlier_waits = (SELECT jsonb_agg(jsonb_build_object('queued_at', n)) FROM generate_series(1, 98) n)
        WHERE run_id = 'often'`,
    );
    for (const drain of ['', 'at-boundary', '', 'at-boundary']) await node.advertise({ drain });
    const [{ kept }] = (await sql<{ kept: any[] }>(
      "SELECT earlier_waits AS kept FROM runs WHERE run_id = 'often'",
    )) as [{ kept: any[] }];
    expect(kept).toHaveLength(99);
    expect(kept.slice(0, 2).map(({ queued_at }) => queued_at)).toEqual([1, 3]);
    expect(new Date(kept[97].queued_at)).toEqual(first!.queued_at);
    await cancel(server, 'often');
    expect(JSON.parse((await filesOf('often'))['manifest.json']!).waited).toHaveLength(100);
  });

  it('a node that is not live gets no step, one that it holds neither, and gets one as soon as it speaks', async () => {
    const node = await live('mute', 'mute');
    const steps = [step('one', 'mute'), step('two', 'mute')];
    await submit(server, { run_id: 'mute', requires: [needs('mute')], steps });
    const claimed = (await node.claim()).body;
    await sql("UPDATE nodes SET expires_at = clock_timestamp() - interval '1 s' WHERE node_id = 'mute'");
    expect((await node.claim()).status).toBe(204);
    const itsOwn = node.claim(30);
    await eventually('it is parked', () => server.mediator.app.get(ParkedClaims).size === 1);
    await node.advertise();
    expect(await itsOwn).toMatchObject({ status: 200, body: { seq: 1, lease: { nonce: claimed.lease.nonce } } });
    await sql("UPDATE nodes SET expires_at = clock_timestamp() - interval '1 s' WHERE node_id = 'mute'");
    expect((await node.report(claimed)).status).toBe(200);
    expect((await node.claim()).status).toBe(204);
    const answer = node.claim(30);
    await eventually('it is parked', () => server.mediator.app.get(ParkedClaims).size === 1);
    await node.advertise();
    expect(await answer).toMatchObject({ status: 200, body: { run_id: 'mute', seq: 2 } });
  });
});

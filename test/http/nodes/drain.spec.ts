import { describe, expect, it } from '@jest/globals';
import { needs, R, step } from '../../support/contracts.js';
import type { PlayedNode } from '../../support/played-node.js';
import { serverSuite } from '../../support/server-suite.js';

describe('a node that drains', () => {
  const server = serverSuite();
  let n1: PlayedNode;
  let role: string;
  let made = 0;
  const submit = async (body: object): Promise<number> => (await server.send('POST', '/v1/runs', { body })).status;
  const get = async (runId: string): Promise<any> => (await server.send('GET', `/v1/runs/${runId}`)).body;
  const wakes = (why: string): Promise<number> => server.figure(`mediator_wakes_total{why="${why}"}`);

  /** A fresh node whose run has two steps, and a run that waits for the node. Gives their ids. */
  const begin = async (waits = true): Promise<{ a: string; w: string }> => {
    role = `r${++made}`;
    n1 = server.node(`n${made}`, [{ role }]);
    await n1.advertise();
    const [a, w] = [`a${made}`, `w${made}`];
    const run = { run_id: a, requires: [needs(role)], steps: [step('one', role), step('two', role)] };
    expect(await submit(run)).toBe(201);
    if (waits) expect(await submit(R(role, { run_id: w }))).toBe(202);
    return { a, w };
  };

  it('D1 at-boundary while step 1 of 2 is done: the report of it cancels the run; who waits goes on waiting', async () => {
    const { a, w } = await begin();
    const claimed = (await n1.claim()).body;
    const advert = await n1.advertise({ drain: 'at-boundary' });
    expect(advert.body).toMatchObject({ drain: 'at-boundary', leases: [{ run_id: a, nonce: claimed.lease.nonce }] });
    expect((await get(a)).state).toBe('RUNNING');
    const before = await wakes('drained');

    const reported = await n1.report(claimed);

    expect(reported.body).toMatchObject({ step_state: 'DONE', rolled_back: false, run_state: 'CANCELLED' });
    const run = await get(a);
    expect(run).toMatchObject({
      state: 'CANCELLED',
      verdict: { reason: 'drained', by: { kind: 'node', name: n1.nodeId } },
      record: { state: 'SEALED' },
    });
    expect(run.verdict.detail).toContain(n1.nodeId);
    expect(run.steps.map((one: any) => one.state)).toEqual(['DONE', 'CANCELLED']);
    expect((await n1.claim()).status).toBe(204);
    expect(await get(w)).toMatchObject({ state: 'QUEUED', waiting: { reason: 'DRAINING' } });
    expect((await n1.advertise({ drain: 'at-boundary' })).body.leases).toEqual([]);
    expect(await wakes('drained')).toBe(before + 1);
    expect(await server.database.sql('SELECT why FROM grants WHERE run_id = $1', [a])).toEqual([{ why: 'drained' }]);
  });

  it('D2 graceful: both steps run, the run SUCCEEDED, and a new run waits', async () => {
    const { a, w } = await begin(false);
    await n1.work();
    expect((await n1.advertise({ drain: 'graceful' })).body).toMatchObject({
      drain: 'graceful',
      leases: [{ run_id: a }],
    });
    expect(await submit(R(role, { run_id: w }))).toBe(202);
    expect((await n1.work()).body).toMatchObject({ seq: 2, run_state: 'SUCCEEDED' });

    expect(await get(w)).toMatchObject({ state: 'QUEUED', waiting: { reason: 'DRAINING' } });
    expect(await submit(R(role, { run_id: `${w}-new` }))).toBe(202);
    expect((await n1.claim()).status).toBe(204);
  });

  it('D3 at-boundary in the last step: the run has ended by itself, SUCCEEDED', async () => {
    const { a } = await begin(false);
    await n1.work();
    const claimed = (await n1.claim()).body;
    await n1.advertise({ drain: 'at-boundary' });
    expect((await n1.report(claimed)).body).toMatchObject({ step_state: 'DONE', run_state: 'SUCCEEDED' });
    expect((await get(a)).verdict.reason).toBe('succeeded');
  });

  it('D3 at-boundary in a step that fails: the run FAILED by its step, not by the drain', async () => {
    const { a } = await begin(false);
    const claimed = (await n1.claim()).body;
    await n1.advertise({ drain: 'at-boundary' });
    expect((await n1.report(claimed, { exit_code: 1 })).body).toMatchObject({ run_state: 'FAILED' });
    expect((await get(a)).verdict.reason).toBe('step_failed');
  });

  it.each(['graceful', 'at-boundary'])(
    'D5 an advert without drain after %s: the waiting run is RUNNING right after, and this answer lists its lease',
    async (drain) => {
      const { a, w } = await begin();
      await n1.work();
      await n1.advertise({ drain });
      if (drain === 'graceful') await n1.work();
      expect((await get(a)).state).toBe(drain === 'graceful' ? 'SUCCEEDED' : 'CANCELLED');
      const before = await wakes('drain-lift');
      // Draining goes on while nobody lifts it, and the other word is no lift.
      await n1.advertise({ drain: drain === 'graceful' ? 'at-boundary' : 'graceful' });
      expect(await get(w)).toMatchObject({ state: 'QUEUED', waiting: { reason: 'DRAINING' } });

      const lifted = await n1.advertise();

      expect(lifted.body).toMatchObject({ drain: '', leases: [{ run_id: w, node_id: n1.nodeId }] });
      expect((await get(w)).state).toBe('RUNNING');
      const claimed = (await n1.claim()).body;
      expect(claimed).toMatchObject({ run_id: w, lease: { nonce: lifted.body.leases[0].nonce } });
      expect(await wakes('drain-lift')).toBe(before + 1);
    },
  );

  it.each([
    ['a word nobody knows', 'sideways'],
    ['a number', 7],
    ['an object', { at: 'boundary' }],
  ])(
    'D6 %s for drain: 200 with a warning, it counts as none, and the node is still a candidate',
    async (_what, drain) => {
      const { a, w } = await begin(false);
      const { status, body } = await n1.advertise({ drain });
      expect([status, body.drain]).toEqual([200, '']);
      expect(body.warnings).toContainEqual(expect.stringContaining(JSON.stringify(drain)));
      expect(body.leases).toMatchObject([{ run_id: a }]);
      await server.send('POST', `/v1/runs/${a}/cancel`);
      expect(await submit(R(role, { run_id: w }))).toBe(201);
    },
  );

  it('D6 it lifts a drain, as every advert without one does', async () => {
    const { w } = await begin();
    await n1.work();
    await n1.advertise({ drain: 'at-boundary' });
    expect((await n1.advertise({ drain: 'sideways' })).body.leases).toMatchObject([{ run_id: w }]);
  });

  it('D7 at-boundary between two steps: the advert itself cancels the run, and its answer lists no lease', async () => {
    const { a, w } = await begin();
    await n1.work();
    const before = await wakes('drained');

    const advert = await n1.advertise({ drain: 'at-boundary' });

    expect(advert.body).toMatchObject({ drain: 'at-boundary', leases: [] });
    const run = await get(a);
    expect(run).toMatchObject({
      state: 'CANCELLED',
      verdict: { reason: 'drained', by: { kind: 'node', name: n1.nodeId } },
      record: { state: 'SEALED' },
    });
    expect(run.steps.map((one: any) => one.state)).toEqual(['DONE', 'CANCELLED']);
    expect((await get(w)).waiting.reason).toBe('DRAINING');
    expect(await wakes('drained')).toBe(before + 1);
  });

  it('D7 at-boundary of a node whose step is not the one in progress: the other node is free for who waits', async () => {
    const [m1, m2] = [server.node('m1', [{ role: 'm1' }]), server.node('m2', [{ role: 'm2' }])];
    await m1.advertise();
    await m2.advertise();
    const steps = [step('one', 'm2'), step('two', 'm1')];
    expect(await submit({ run_id: 'both', requires: [needs('m1'), needs('m2')], steps })).toBe(201);
    expect(await submit(R('m2', { run_id: 'waits' }))).toBe(202);
    const claimed = (await m2.claim()).body;

    expect((await m1.advertise({ drain: 'at-boundary' })).body.leases).toEqual([]);

    expect((await get('both')).steps.map((one: any) => one.state)).toEqual(['CANCELLED', 'CANCELLED']);
    expect(await m2.report(claimed)).toMatchObject({ status: 409, body: { code: 'stale_lease' } });
    expect((await m2.work()).body).toMatchObject({ run_id: 'waits', run_state: 'SUCCEEDED' });
  });
});

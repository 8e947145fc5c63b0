import { describe, expect, it } from '@jest/globals';
import { needs, R, step } from '../../support/contracts.js';
import { startTestMediator } from '../../support/mediator.js';
import { promotion } from '../../support/queue.js';
import { serverSuite } from '../../support/server-suite.js';

/** A contract whose first step takes one more board of this role: `more` goes on with it, `without` does without. */
function acquires(base: string, extra: string, run_id: string): Record<string, unknown> {
  return {
    run_id,
    requires: [needs(base)],
    steps: [
      { id: 'take', acquire: { want: needs(extra), acquired: 'more', unavailable: 'without' } },
      step('more', extra),
      step('without', base),
      step('end', base, { needs: ['more', 'without'] }),
    ],
  };
}

describe('acquire and release', () => {
  const server = serverSuite();
  const submit = async (contract: object) => (await server.send('POST', '/v1/runs', { body: contract })).status;
  const get = async (runId: string) => (await server.send('GET', `/v1/runs/${runId}`)).body;
  const statesOf = async (runId: string) =>
    Object.fromEntries((await get(runId)).steps.map((one: any) => [one.id, one.state]));
  const holders = async (runId: string) =>
    (
      await server.database.sql<{ node_id: string }>('SELECT node_id FROM leases WHERE run_id = $1 ORDER BY 1', [runId])
    ).map((row) => row.node_id);

  it('B3 a step that releases one of two nodes promotes who waits for it, while its own run goes on', async () => {
    const n1 = server.node('b3-1', [{ role: 'b3x' }]);
    const n2 = server.node('b3-2', [{ role: 'b3y' }]);
    await n1.advertise();
    await n2.advertise();
    const steps = [step('one', 'b3x'), step('two', 'b3y', { release: ['b3x'] }), step('three', 'b3y')];
    expect(await submit({ run_id: 'b3-a', requires: [needs('b3x'), needs('b3y')], steps })).toBe(201);
    expect(await submit(R('b3x', { run_id: 'b3-b' }))).toBe(202);
    await n1.work();

    expect((await n2.work()).body).toMatchObject({ step_state: 'DONE', run_state: 'RUNNING' });

    expect(await get('b3-b')).toMatchObject({
      state: 'RUNNING',
      assigned: [{ as: 'b3x', nodes: [{ node_id: 'b3-1' }] }],
    });
    expect(await promotion(server, 'b3-b')).toEqual({ state: 'RUNNING', whys: ['result'], holds: ['b3-1'] });
    expect(await holders('b3-a')).toEqual(['b3-2']);
    expect((await n1.claim()).body.run_id).toBe('b3-b');
    expect((await n2.work()).body.run_state).toBe('SUCCEEDED');
    const grants = await server.database.sql('SELECT node_id, why FROM grants WHERE run_id = $1 ORDER BY node_id', [
      'b3-a',
    ]);
    expect(grants).toEqual([
      { node_id: 'b3-1', why: 'released' },
      { node_id: 'b3-2', why: 'succeeded' },
    ]);
  });

  it('B3 a node of two roles is given back when the last of them is released', async () => {
    const node = server.node('b3-both', [{ role: 'b3p' }, { role: 'b3q' }]);
    const other = server.node('b3-other', [{ role: 'b3r' }]);
    await node.advertise();
    await other.advertise();
    const steps = [step('p', 'b3p', { release: ['b3p'] }), step('q', 'b3q', { release: ['b3q'] }), step('r', 'b3r')];
    expect(await submit({ run_id: 'b3-c', requires: [needs('b3p'), needs('b3q'), needs('b3r')], steps })).toBe(201);
    await node.work();
    expect(await holders('b3-c')).toEqual(['b3-both', 'b3-other']);
    await node.work();
    expect(await holders('b3-c')).toEqual(['b3-other']);
    expect((await other.work()).body.run_state).toBe('SUCCEEDED');
  });

  it('B13 an acquire takes nothing while its run waits, and chooses its branch at the promotion', async () => {
    const base = server.node('b13-1', [{ role: 'b13x' }]);
    const extra = server.node('b13-2', [{ role: 'b13y' }]);
    await base.advertise();
    await extra.advertise();
    expect(await submit(R('b13x', { run_id: 'b13-a' }))).toBe(201);
    expect(await submit(acquires('b13x', 'b13y', 'b13-b'))).toBe(202);
    expect(await server.database.sql("SELECT 1 FROM leases WHERE node_id = 'b13-2'")).toEqual([]);

    await base.work();

    expect(await holders('b13-b')).toEqual(['b13-1', 'b13-2']);
    expect(await statesOf('b13-b')).toEqual({ take: 'DONE', more: 'PENDING', without: 'SKIPPED', end: 'PENDING' });
    const run = await get('b13-b');
    expect(run.assigned.map((role: any) => role.as)).toEqual(['b13x', 'b13y']);
    expect(run.steps[0].result).toEqual({ branch: 'more' });
    expect(run.steps[1].chosen).toBe(true);
    await extra.work();
    expect((await base.work()).body.run_state).toBe('SUCCEEDED');
  });

  it.each([
    ['busy', async () => void (await submit(R('c8y', { run_id: 'c8-holder' })))],
    ['draining', async () => void (await server.node('c8-2', [{ role: 'c8y' }]).advertise({ drain: 'graceful' }))],
  ])('C8 an acquire of a %s node is `unavailable`, and the run goes on', async (kind, take) => {
    const base = server.node('c8-1', [{ role: 'c8x' }]);
    await base.advertise();
    await server.node('c8-2', [{ role: 'c8y' }]).advertise();
    await take();
    expect(await submit(acquires('c8x', 'c8y', `c8-${kind}`))).toBe(201);

    expect(await statesOf(`c8-${kind}`)).toEqual({ take: 'DONE', more: 'SKIPPED', without: 'PENDING', end: 'PENDING' });
    expect(await holders(`c8-${kind}`)).toEqual(['c8-1']);
    await base.work();
    expect((await base.work()).body.run_state).toBe('SUCCEEDED');
    await server.send('POST', '/v1/runs/c8-holder/cancel');
  });

  it('C8 nodes that a promotion acquired are taken for the rest of the sweep', async () => {
    const base = server.node('c8s-1', [{ role: 'c8sx' }]);
    const extra = server.node('c8s-2', [{ role: 'c8sy' }]);
    await base.advertise();
    await extra.advertise();
    const both = { run_id: 'c8s-a', requires: [needs('c8sx'), needs('c8sy')], steps: [step('s', 'c8sx')] };
    expect(await submit(both)).toBe(201);
    expect(await submit(acquires('c8sx', 'c8sy', 'c8s-b'))).toBe(202);
    expect(await submit(R('c8sy', { run_id: 'c8s-c' }))).toBe(202);

    expect((await server.send('POST', '/v1/runs/c8s-a/cancel')).body.state).toBe('CANCELLED');

    expect(await holders('c8s-b')).toEqual(['c8s-1', 'c8s-2']);
    expect((await get('c8s-c')).state).toBe('QUEUED');
  });

  it('a run that is over as soon as it has begun is answered with its record sealed', async () => {
    await server.node('now-1', [{ role: 'now' }]).advertise();
    const take = { want: { as: 'extra', capability: 'nobody-has-it' }, acquired: 'yes', unavailable: 'no' };
    const steps = [{ id: 'take', acquire: take }, step('yes', 'extra'), step('no', 'extra')];
    const { status, body } = await server.send('POST', '/v1/runs', {
      body: { run_id: 'now', requires: [needs('now')], steps },
    });
    expect([status, body.state, body.record.state]).toEqual([201, 'SUCCEEDED', 'SEALED']);
    expect(await holders('now')).toEqual([]);
  });

  it('C8 a run at the cap acquires nothing', async () => {
    const capped = await startTestMediator({ env: { MEDIATOR_MAX_LEASES_PER_RUN: '1' } });
    try {
      await capped.node('cap-1', [{ role: 'x' }]).advertise();
      await capped.node('cap-2', [{ role: 'y' }]).advertise();
      const created = await capped.send('POST', '/v1/runs', { body: acquires('x', 'y', 'cap') });
      expect(created.status).toBe(201);
      expect(created.body.steps.map((one: any) => one.state)).toEqual(['DONE', 'SKIPPED', 'PENDING', 'PENDING']);
      expect(await capped.violations()).toEqual([]);
    } finally {
      await capped.close();
    }
  });
});

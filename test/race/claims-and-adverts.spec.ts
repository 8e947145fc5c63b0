import { describe, expect, it } from '@jest/globals';
import { ParkedClaims } from '../../src/execution/parked-claims.js';
import { needs, R, step } from '../support/contracts.js';
import { eventually } from '../support/eventually.js';
import { startTestMediator } from '../support/mediator.js';
import { moveClock } from '../support/move-clock.js';
import { blockedOn, blockedOrAnswered, carriedOut } from '../support/parked.js';
import type { PlayedNode } from '../support/played-node.js';
import { hold, once } from '../support/failpoints.js';
import { cancel, countWakes, promotion, show, submit } from '../support/queue.js';
import { serverSuite } from '../support/server-suite.js';

// What a claim and a report lock, and what goes wrong without: each test holds somebody else in front of its commit.
describe('the locks of a claim and of a report', () => {
  const server = serverSuite();
  let made = 0;
  /** A node as this instance of it speaks. */
  const as = (nodeId: string, role: string, instance: string): PlayedNode => {
    const node = server.node(nodeId, [{ role }]);
    node.instance = instance;
    return node;
  };

  /** A node of a role of its own, of which one instance has advertised; a run with two steps for it; another instance. */
  async function twoInstances(): Promise<{ runId: string; older: PlayedNode; newer: PlayedNode }> {
    const role = `twice-${++made}`;
    const [older, newer] = ['I1', 'I2'].map((instance) => as(`${role}-N`, role, instance)) as [PlayedNode, PlayedNode];
    await older.advertise();
    const steps = [step('one', role), step('two', role)];
    expect((await submit(server, { run_id: role, requires: [needs(role)], steps })).status).toBe(201);
    return { runId: role, older, newer };
  }

  it('the node: a claim that meets the advert of another instance waits for it, and is stale', async () => {
    const { runId, older, newer } = await twoInstances();
    const advert = hold('advert.before-commit');
    const advertised = newer.advertise();
    await advert.reached;

    const claimed = older.claim();
    await blockedOrAnswered(server.database, claimed);
    advert.letGo();

    expect((await advertised).status).toBe(200);
    expect(await claimed).toMatchObject({ status: 409, body: { code: 'stale_instance' } });
    expect((await show(server, runId)).steps[0]).toMatchObject({ state: 'PENDING' });
    expect(await newer.claim()).toMatchObject({ status: 200, body: { run_id: runId, seq: 1 } });
    await cancel(server, runId);
  });

  it('the node: the advert of another instance waits for the claim, and sees that its step is lost', async () => {
    const { runId, older, newer } = await twoInstances();
    const claim = hold('claim.before-commit');
    const claimed = older.claim();
    await claim.reached;

    const advertised = newer.advertise();
    await blockedOrAnswered(server.database, advertised);
    claim.letGo();

    expect((await claimed).status).toBe(200);
    expect((await advertised).body.leases).toEqual([]);
    expect(await show(server, runId)).toMatchObject({ state: 'FAILED', verdict: { reason: 'node_restarted' } });
  });

  it('the node: a report that meets an advert which drains at the boundary waits for it, and has reached the boundary', async () => {
    const { runId, older } = await twoInstances();
    const { body: claim } = await older.claim();
    const advert = hold('advert.before-commit');
    const advertised = older.advertise({ drain: 'at-boundary' });
    await advert.reached;

    const reported = older.report(claim);
    await blockedOrAnswered(server.database, reported);
    advert.letGo();

    expect((await advertised).body.drain).toBe('at-boundary');
    expect((await reported).body).toMatchObject({ step_state: 'DONE', run_state: 'CANCELLED' });
    expect(await show(server, runId)).toMatchObject({ verdict: { reason: 'drained' } });
  });

  it('a claim that waits ends as stale when another instance of its node speaks, and not before', async () => {
    const role = 'waits';
    const [older, newer] = ['I1', 'I2'].map((instance) => as('waits-N', role, instance)) as [PlayedNode, PlayedNode];
    await older.advertise();
    const looked = new Promise<void>((resolve) => once('claim.committed', resolve));
    const claimed = older.claim(300);
    await looked;
    await eventually('it waits', () => server.mediator.app.get(ParkedClaims).size === 1);
    await older.advertise();
    expect(server.mediator.app.get(ParkedClaims).size).toBe(1);
    await newer.advertise();
    expect(await claimed).toMatchObject({ status: 409, body: { code: 'stale_instance' } });
  });

  it('the run: a step whose needs a loop has opened again between the look and the claim is not given', async () => {
    const [x, y, z] = ['loop-x', 'loop-y', 'loop-z'];
    const [build, measure, judge] = [x, y, z].map((role) => server.node(`N-${role}`, [{ role: role }]));
    for (const node of [build!, measure!, judge!]) await node.advertise();
    const steps = [
      step('build', x),
      step('measure', y, { needs: ['build'] }),
      step('judge', z, { needs: ['build'], loop: { back_to: 'build', max: 3, until: { exit_code: 0 } } }),
    ];
    const requires = [x, y, z].map((role) => needs(role));
    expect((await submit(server, { run_id: 'loop', requires, steps })).status).toBe(201);
    await build!.work();
    const { body: judged } = await judge!.claim();
    const rollback = hold('report.before-commit');
    const rolledBack = judge!.report(judged, { exit_code: 1 });
    await rollback.reached;
    await carriedOut(server.database, 'steps.write-graph');

    // It looks while `build` is done as far as anybody can see.
    const claimed = measure!.claim();
    await blockedOrAnswered(server.database, claimed);
    rollback.letGo();

    expect((await rolledBack).body).toMatchObject({ rolled_back: true, run_state: 'RUNNING' });
    expect((await claimed).status).toBe(204);
    expect((await show(server, 'loop')).steps.map((one: any) => one.state)).toEqual(['PENDING', 'PENDING', 'PENDING']);
    await build!.work();
    expect(await measure!.claim()).toMatchObject({ status: 200, body: { run_id: 'loop', id: 'measure' } });
    await cancel(server, 'loop');
  });

  it('the run: a step is not given while its run is being cancelled', async () => {
    const { runId, older } = await twoInstances();
    const cancelling = hold('cancel.before-commit');
    const cancelled = cancel(server, runId);
    await cancelling.reached;

    const claimed = older.claim();
    await blockedOrAnswered(server.database, claimed);
    cancelling.letGo();

    expect((await cancelled).body.state).toBe('CANCELLED');
    expect((await claimed).status).toBe(204);
  });
});

describe('claims and renewals that meet something else', () => {
  const server = serverSuite();
  const node = server.liveNode('n1', { role: 'x' });
  node.instance = 'I1';
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
    // With the second one its node is heard of: from then on a claim changes nothing, and takes this lock alone.
    for (const _claim of [1, 2]) expect((await node.claim()).status).toBe(200);
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
    await blockedOn(server.database, 'fleet.lock-nodes-of');
    renewing.letGo();

    expect((await renewed).body.leases).toMatchObject([{ run_id: 'alive' }]);
    expect(await reaped).toMatchObject({ expired: 0, errors: 0 });
    expect((await show(server, 'alive')).state).toBe('RUNNING');
    await cancel(server, 'alive');
  });

  it('G6 a claim under way comes before the reaper, which has found the step not begun', async () => {
    await submit(R('x', { run_id: 'begins' }));
    await moveClock(server.database, 100_000);
    await node.advertise();
    await server.database.sql("UPDATE nodes SET back_at = NULL WHERE node_id = 'n1'");
    const claiming = hold('claim.before-commit');
    const claimed = node.claim();
    await claiming.reached;

    const reaped = server.reap();
    await blockedOn(server.database, 'fleet.lock-node-to-change');
    claiming.letGo();

    expect(await claimed).toMatchObject({ status: 200, body: { run_id: 'begins' } });
    expect(await reaped).toMatchObject({ unbegun: 0, errors: 0 });
    expect((await node.report((await claimed).body)).body.run_state).toBe('SUCCEEDED');
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

describe('two adverts of one node at once', () => {
  const server = serverSuite();
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

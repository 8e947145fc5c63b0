import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { describe, expect, it } from '@jest/globals';
import { needs, R, step } from '../../support/contracts.js';
import { eventually } from '../../support/eventually.js';
import { blockedOn, expectGivenAtOnce, park } from '../../support/parked.js';
import { hold } from '../../support/failpoints.js';
import { openSession } from '../../support/session.js';
import { ParkedClaims } from '../../../src/execution/parked-claims.js';
import { serverSuite } from '../../support/server-suite.js';

describe('a claim that waits for its step', () => {
  const server = serverSuite();
  let made = 0;
  const parkedClaims = (): number => server.mediator.app.get(ParkedClaims).size;
  const post = (path: string, body?: object): Promise<any> => server.send('POST', `/v1/${path}`, { body });
  const released = (): Promise<true> => eventually('no claim is parked', () => parkedClaims() === 0);

  /** A fresh pair of nodes with a run on both, whose step 2 on the second waits for step 1 on the first. */
  const pair = async () => {
    const name = `p${++made}`;
    const nodes = ['x', 'y'].map((side) => server.node(`${name}-${side}`, [{ role: `${name}-${side}` }]));
    for (const node of nodes) await node.advertise();
    const [first, second] = nodes as [(typeof nodes)[0], (typeof nodes)[0]];
    const roles = nodes.map((node) => node.nodeId);
    const steps = [step('one', roles[0]!), step('two', roles[1]!)];
    const run = { run_id: name, requires: roles.map((role) => needs(role)), steps };
    expect((await post('runs', run)).status).toBe(201);
    return { run: name, first, second };
  };

  it('E6 gets the step within 100 ms of the report that made it ready', async () => {
    await expectGivenAtOnce(async () => {
      const { run, first, second } = await pair();
      const one = (await first.claim()).body;
      const { answer } = await park(server.database, () => second.claim(30));
      return { claim: answer, act: () => first.report(one), want: { run_id: run, seq: 2 } };
    });
  });

  it('E6 gets the step within 100 ms of the release that promoted its run', async () => {
    await expectGivenAtOnce(async () => {
      const { run, first } = await pair();
      const next = R(first.nodeId, { run_id: `${run}-next` });
      expect((await post('runs', next)).status).toBe(202);
      // Its first step is the node's own until the run is cancelled; a claim without an instance may hold two.
      await first.claim();
      // That it has asked again is written down once; from then on a claim only looks.
      await first.claim();
      const { answer } = await park(server.database, () => first.claim(30));
      return { claim: answer, act: () => post(`runs/${run}/cancel`), want: { run_id: `${run}-next` } };
    });
  });

  it('E6 gets the step within 100 ms of the submission, though the node has never advertised when it asks', async () => {
    await expectGivenAtOnce(async () => {
      const node = server.node(`new${++made}`, [{ role: `new${made}` }]);
      const { answer } = await park(server.database, () => node.claim(30));
      await node.advertise();
      const run = R(`new${made}`, { run_id: node.nodeId });
      return { claim: answer, act: () => post('runs', run), want: { run_id: node.nodeId } };
    });
  });

  it('of two parked claims of one node one gets the step and the other goes on waiting', async () => {
    const { run, first, second } = await pair();
    const client = new AbortController();
    const given: any[] = [];
    const claims = [1, 2].map(() => second.claim(30, client.signal).then((answer) => given.push(answer)));
    await eventually('both are parked', () => parkedClaims() === 2);
    await first.work();
    await Promise.race(claims);
    expect([given.length, parkedClaims()]).toEqual([1, 1]);
    expect(given[0]).toMatchObject({ status: 200, body: { run_id: run, seq: 2 } });
    await second.report(given[0].body);
    client.abort();
    await Promise.allSettled(claims);
    await released();
  });

  it('a second claim of an instance ends the first with 204, and gets the step', async () => {
    const { run, first, second } = await pair();
    second.instance = 'boot-1';
    await second.advertise();
    const one = (await first.claim()).body;
    const earlier = second.claim(30);
    await eventually('the first is parked', () => parkedClaims() === 1);
    const later = second.claim(30);
    expect((await earlier).status).toBe(204);
    await first.report(one);
    expect(await later).toMatchObject({ status: 200, body: { run_id: run, seq: 2 } });
    await post(`runs/${run}/cancel`);
  });

  it('the 65th claim of a node that names no instance ends the oldest with 204', async () => {
    const node = server.node('crowded');
    const client = new AbortController();
    const ended: number[] = [];
    const claims = Array.from({ length: 66 }, (_, index) =>
      node.claim(30, client.signal).then(({ status }) => {
        expect(status).toBe(204);
        ended.push(index);
      }),
    );
    await eventually('64 wait', () => parkedClaims() === 64 && ended.length === 2);
    client.abort();
    await Promise.allSettled(claims);
    await released();
    expect(ended).toHaveLength(2);
  });

  it('E7 the one of two that is told goes away while the step is being given: the other gets it', async () => {
    const { run, first, second } = await pair();
    const one = (await first.claim()).body;
    const client = new AbortController();
    const goes = second.claim(30, client.signal);
    await eventually('the first is parked', () => parkedClaims() === 1);
    const stays = second.claim(30);
    await eventually('both are parked', () => parkedClaims() === 2);
    // Only the one that is told opens a transaction; it waits for the run.
    const { reached, letGo } = hold('report.before-commit');
    const reported = first.report(one);
    await reached;
    const other = await openSession(server.database);
    await other.sql('BEGIN');
    await other.sql('SELECT FROM nodes WHERE node_id = $1 FOR UPDATE', [second.nodeId]);
    letGo();
    await reported;
    await blockedOn(server.database, 'fleet.lock-node');
    client.abort();
    await expect(goes).rejects.toThrow('aborted');
    // One round trip, so that the server has heard of the connection's end.
    await server.send('GET', '/livez');
    await other.sql('ROLLBACK');
    await other.close();
    expect(await stays).toMatchObject({ status: 200, body: { run_id: run, seq: 2 } });
    await post(`runs/${run}/cancel`);
  });

  it('its time is over: 204, also where the collector of garbage has run meanwhile', async () => {
    setFlagsFromString('--expose-gc');
    const collect = runInNewContext('gc') as () => void;
    const { answer } = await park(server.database, () => server.node('patient').claim(1));
    collect();
    expect((await answer).status).toBe(204);
    expect(parkedClaims()).toBe(0);
  });

  describe.each([
    ['without an instance', undefined],
    ['with an instance', 'boot-1'],
  ])('E7 %s', (_what, instance) => {
    it('the client goes away just before the step is ready: it is still PENDING, and the next claim gets it', async () => {
      const { run, first, second } = await pair();
      second.instance = instance;
      if (instance !== undefined) await second.advertise();
      const one = (await first.claim()).body;
      const client = new AbortController();
      const claim = second.claim(30, client.signal);
      await eventually('the claim is parked', () => parkedClaims() === 1);

      client.abort();
      await first.report(one);

      await expect(claim).rejects.toThrow('aborted');
      await released();
      const { body } = await server.send('GET', `/v1/runs/${run}`);
      expect(body.steps[1]).toMatchObject({ state: 'PENDING', attempt: 1, started_at: null });
      expect((await second.work()).body).toMatchObject({ seq: 2, run_state: 'SUCCEEDED' });
    });

    it('the client goes away while the step is being given: nothing is given, and the next claim gets it', async () => {
      const { run, first, second } = await pair();
      second.instance = instance;
      if (instance !== undefined) await second.advertise();
      await first.work();
      const other = await openSession(server.database);
      await other.sql('BEGIN');
      await other.sql('SELECT FROM runs WHERE run_id = $1 FOR UPDATE', [run]);
      const client = new AbortController();
      const claim = second.claim(30, client.signal);
      await blockedOn(server.database, 'records.lock-run');

      client.abort();
      await expect(claim).rejects.toThrow('aborted');
      // One round trip, so that the server has heard of the connection's end.
      await server.send('GET', '/livez');
      await other.sql('ROLLBACK');
      await other.close();

      await released();
      expect((await server.send('GET', `/v1/runs/${run}`)).body.steps[1]).toMatchObject({
        state: 'PENDING',
        attempt: 1,
      });
      expect((await second.work()).body).toMatchObject({ seq: 2, run_state: 'SUCCEEDED' });
    });
  });

  it('E7 the client goes away after it was decided: the instance that comes back gets the same step and attempt', async () => {
    const { run, first, second } = await pair();
    second.instance = 'boot-1';
    await second.advertise();
    await first.work();
    const { reached, letGo } = hold('claim.before-commit');
    const client = new AbortController();
    const claim = second.claim(30, client.signal);
    await reached;
    client.abort();
    await expect(claim).rejects.toThrow('aborted');
    letGo();
    await released();
    const { started_at, state } = (await server.send('GET', `/v1/runs/${run}`)).body.steps[1];
    expect(state).toBe('CLAIMED');

    const again = await second.claim();

    expect(again).toMatchObject({ status: 200, body: { run_id: run, seq: 2, attempt: 1 } });
    expect((await server.send('GET', `/v1/runs/${run}`)).body.steps[1]).toMatchObject({ started_at, attempt: 1 });
    expect((await second.report(again.body)).body.run_state).toBe('SUCCEEDED');
  });
});

import { afterAll, afterEach, beforeAll, describe, expect, it } from '@jest/globals';
import { answer, question } from '../support/asks.js';
import { needs, R, step } from '../support/contracts.js';
import { startTestMediator, type TestMediator } from '../support/mediator.js';
import type { PlayedClaim, PlayedNode } from '../support/played-node.js';
import { upload } from '../support/uploads.js';

describe('a run that takes an unusual way', () => {
  let server: TestMediator;
  let x: PlayedNode;
  let y: PlayedNode;
  beforeAll(async () => {
    server = await startTestMediator();
    [x, y] = [server.node('node-x', [{ role: 'x' }]), server.node('node-y', [{ role: 'y' }])];
    await x.advertise();
    await y.advertise();
  });
  afterEach(async () => {
    const violations = await server.violations();
    const left = await server.database.sql<{ run_id: string }>("SELECT run_id FROM runs WHERE state = 'RUNNING'");
    // One that went wrong must not stand in the way of the next.
    for (const { run_id } of left) await cancel(run_id);
    expect({ violations, left }).toEqual({ violations: [], left: [] });
    expect(await server.database.sql('SELECT * FROM leases')).toEqual([]);
  });
  afterAll(() => server.close());

  const submit = async (run_id: string, steps: object[], roles = ['x']): Promise<string> => {
    const body = { run_id, requires: roles.map((role) => needs(role)), steps };
    return (await server.send('POST', '/v1/runs', { body })).body.state;
  };
  const get = async (runId: string): Promise<any> => (await server.send('GET', `/v1/runs/${runId}`)).body;
  const statesOf = async (runId: string): Promise<Record<string, string>> =>
    Object.fromEntries((await get(runId)).steps.map((one: any) => [one.id, one.state]));
  const cancel = (runId: string): Promise<unknown> => server.send('POST', `/v1/runs/${runId}/cancel`);
  const choose = async (node: PlayedNode, claim: PlayedClaim, target: string): Promise<void> => {
    expect((await upload(server, claim, 'o', JSON.stringify(target))).status).toBe(204);
    expect((await node.report(claim)).status).toBe(200);
  };
  const pick = (id: string, to: string[], more: object = {}): object =>
    step(id, 'x', { out: ['o'], dispatch: { from: 'o', to }, ...more });
  /** Takes a node that nobody offers, so there is none. */
  const take = (acquired: string, unavailable: string, more: object = {}): object => {
    return { id: 'take', acquire: { want: needs('nowhere', { as: 'z' }), acquired, unavailable }, ...more };
  };

  it('a step whose role was not acquired is skipped, though it joins both branches, and the run ends', async () => {
    const steps = [
      take('more', 'less'),
      step('more', 'z'),
      step('less', 'x'),
      step('join', 'z', { needs: ['more', 'less'] }),
    ];
    await submit('not-acquired', steps);
    expect((await x.work()).body.run_state).toBe('SUCCEEDED');
    expect(await statesOf('not-acquired')).toEqual({ take: 'DONE', more: 'SKIPPED', less: 'DONE', join: 'SKIPPED' });
  });

  it('a run whose acquire skips every step is over at once, promoted or not, and whoever waits gets its node', async () => {
    const nothing = [take('more', 'less'), step('more', 'z'), step('less', 'z')];
    expect(await submit('nothing', nothing)).toBe('SUCCEEDED');
    await submit('holder', [step('only', 'x')]);
    expect(await submit('nothing-later', nothing)).toBe('QUEUED');
    expect((await server.send('POST', '/v1/runs', { body: R('x', { run_id: 'next' }) })).body.state).toBe('QUEUED');
    await x.work();
    expect([(await get('nothing-later')).state, (await get('next')).state]).toEqual(['SUCCEEDED', 'RUNNING']);
    expect((await x.work()).body.run_id).toBe('next');
    await server.reap();
    expect((await get('nothing')).record.state).toBe('SEALED');
  });

  it('a node is not given back while a step still works on it behind one that was skipped', async () => {
    const steps = [
      step('slow', 'y'),
      pick('pick', ['after', 'other'], { needs: [] }),
      step('after', 'x', { needs: ['slow'] }),
      step('other', 'x', { needs: ['pick'] }),
      step('end', 'x', { needs: ['after', 'other'], release: ['y'] }),
      step('last', 'x'),
    ];
    await submit('kept', steps, ['x', 'y']);
    const slow = (await y.claim()).body;
    await choose(x, (await x.claim()).body, 'other');
    await x.work();
    expect((await x.work()).body).toMatchObject({ seq: 5, step_state: 'DONE' });
    expect(await server.database.sql('SELECT node_id FROM leases ORDER BY 1')).toHaveLength(2);

    expect((await y.report(slow)).status).toBe(200);
    expect(await server.database.sql('SELECT node_id FROM leases')).toEqual([{ node_id: 'node-x' }]);
    expect((await x.work()).body.run_state).toBe('SUCCEEDED');
  });

  it('a node is not given back while a loop may need it again', async () => {
    const steps = [
      step('build', 'y'),
      step('test', 'x', { loop: { back_to: 'build', max: 2, until: { exit_code: 0 } } }),
      step('publish', 'x', { needs: ['build'], release: ['y'] }),
    ];
    await submit('again', steps, ['x', 'y']);
    await y.work();
    const test = (await x.claim()).body;
    expect((await x.work()).body).toMatchObject({ seq: 3, step_state: 'DONE' });
    expect((await x.report(test, { exit_code: 1 })).body.rolled_back).toBe(true);
    expect((await y.work()).body).toMatchObject({ seq: 1, step_state: 'DONE' });
    expect((await x.work()).body.run_state).toBe('SUCCEEDED');
  });

  it('a loop that a branch outside has given up meanwhile does not go round: the run ends with its report', async () => {
    const loop = { back_to: 'loop', max: 2, until: { exit_code: 0 } };
    await submit('given-up', [
      pick('pick', ['loop', 'go']),
      step('loop', 'x', { needs: [], loop }),
      step('go', 'x', { needs: ['pick'] }),
    ]);
    const [picking, looping] = [(await x.claim()).body, (await x.claim()).body];
    await choose(x, picking, 'go');
    await x.work();
    expect((await x.report(looping, { exit_code: 1 })).body).toMatchObject({
      step_state: 'SKIPPED',
      rolled_back: true,
      run_state: 'SUCCEEDED',
    });
  });

  it('a branch that was skipped and revived counts as the later word, whoever reads it', async () => {
    const steps = [
      pick('first', ['take', 'other']),
      pick('second', ['take', 'less'], { needs: ['first'] }),
      take('more', 'less', { needs: ['first'] }),
      step('more', 'x', { needs: ['take'] }),
      step('other', 'x', { needs: ['first'] }),
      pick('third', ['end', 'stop'], { needs: ['other'] }),
      step('end', 'x', { needs: ['third'] }),
      step('stop', 'x', { needs: ['third'] }),
      step('less', 'x', { needs: ['second'] }),
    ];
    await submit('later-word', steps);
    await choose(x, (await x.claim()).body, 'other');
    expect(await statesOf('later-word')).toMatchObject({ take: 'SKIPPED', more: 'SKIPPED' });
    await choose(x, (await x.claim()).body, 'take');
    expect(await statesOf('later-word')).toMatchObject({ take: 'DONE', more: 'SKIPPED', less: 'PENDING' });
    await x.work();
    await choose(x, (await x.claim()).body, 'end');
    expect(await statesOf('later-word')).toMatchObject({ stop: 'SKIPPED', less: 'PENDING' });
    await x.work();
    expect((await x.work()).body).toMatchObject({ seq: 9, run_state: 'SUCCEEDED' });
  });

  it('what is asked again has begun now, not in the attempt before', async () => {
    const loop = { back_to: 'look', max: 2, until: { exit_code: 0 } };
    await submit('asked-again', [question('look'), step('last', 'x', { loop })]);
    await answer(server, 'asked-again', 1);
    const before = (await get('asked-again')).steps[0];
    expect((await x.work({ exit_code: 1 })).body.rolled_back).toBe(true);
    const [asked] = (await get('asked-again')).steps;
    expect(asked).toMatchObject({ state: 'ASKED', attempt: 2, ended_at: null });
    expect(Date.parse(asked.started_at)).toBeGreaterThan(Date.parse(before.ended_at));
    await cancel('asked-again');
  });

  it('a choice that splits a character where it is cut is still told', async () => {
    await submit('split', [pick('pick', ['one', 'two']), step('one', 'x'), step('two', 'x')]);
    const claim = (await x.claim()).body;
    await upload(server, claim, 'o', JSON.stringify('a'.repeat(98) + '😀'));
    expect((await x.report(claim)).body).toMatchObject({ step_state: 'FAILED', run_state: 'FAILED' });
    expect((await get('split')).verdict.detail).toContain('😀');
  });
});

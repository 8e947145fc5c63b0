import { describe, expect, it } from '@jest/globals';
import { needs, R, step } from '../../support/contracts.js';
import { expectProblem } from '../../support/problem.js';
import { cancel, promotion, submit } from '../../support/queue.js';
import { serverSuite } from '../../support/server-suite.js';

/** A run may lease one node. */
describe('the width of a run', () => {
  const server = serverSuite({ env: { MEDIATOR_MAX_LEASES_PER_RUN: '1' } });
  const dryRun = (body: object): Promise<any> => server.send('POST', '/v1/runs/dry-run', { body });
  const pair = (x: string, y: string): object => ({ requires: [needs(x), needs(y)], steps: [step('only', x)] });

  it.each([
    ['the first', 'a', 'b'],
    ['the second', 'b', 'a'],
  ])('W6 one node serves both roles and another serves %s: 201 on the one', async (which, only, both) => {
    const [x, y] = [`${only}${which.length}`, `${both}${which.length}`];
    // The one that serves a role alone advertises less, and so is preferred.
    await server.node(`${x}-alone`, [{ role: x }]).advertise();
    await server.node(`${x}-both`, [{ role: x }, { role: y }]).advertise();
    const run = which === 'the first' ? pair(x, y) : pair(y, x);
    const { status, body } = await dryRun(run);
    expect([status, body.assigned.flatMap(({ nodes }: any) => nodes.map(({ node_id }: any) => node_id))]).toEqual([
      200,
      [`${x}-both`, `${x}-both`],
    ]);
    expect((await submit(server, { ...run, run_id: x })).status).toBe(201);
    expect((await promotion(server, x)).holds).toEqual([`${x}-both`]);
    // Where the one is busy the run waits, and goes as soon as that is free.
    expect((await submit(server, { ...run, run_id: `${x}-2` })).status).toBe(202);
    await cancel(server, x);
    expect(await promotion(server, `${x}-2`)).toEqual({ state: 'RUNNING', whys: ['cancel'], holds: [`${x}-both`] });
    await cancel(server, `${x}-2`);
  });

  it('W6 wider than the cap in every combination: 422, also while busy, and in a dry run', async () => {
    await server.node('w1', [{ role: 'w' }]).advertise();
    await server.node('w2', [{ role: 'w' }]).advertise();
    expect((await submit(server, R('w', { run_id: 'w-a' }))).status).toBe(201);
    const two = { requires: [needs('w', { count: 2 })], steps: [step('only', 'w')] };
    const spread = { ...pair('w', 'w'), requires: [needs('w'), { ...needs('w'), as: 'other' }], spread: true };
    for (const [index, run] of [two, spread].entries()) {
      const answer = await submit(server, { ...run, run_id: `w-${index}` });
      expectProblem(answer, 422, 'too_wide', '/v1/runs');
      expect(answer.body.detail).toBe('the run would take 2 nodes, and a run may lease at most 1');
      expectProblem(await dryRun(run), 422, 'too_wide', '/v1/runs/dry-run');
      expect((await submit(server, { ...run, run_id: `w-${index}` })).body).toMatchObject({ state: 'FAILED' });
    }
  });
});

import { afterAll, afterEach, beforeAll, describe, expect, it } from '@jest/globals';
import { R, needs, step } from '../../support/contracts.js';
import { startTestMediator, type TestMediator } from '../../support/mediator.js';
import { expectProblem } from '../../support/problem.js';
import { everything } from '../../support/stored.js';

describe('POST /v1/runs/dry-run', () => {
  let server: TestMediator;
  beforeAll(async () => {
    server = await startTestMediator({ env: { MEDIATOR_MAX_LEASES_PER_RUN: '2' } });
  });
  afterEach(async () => {
    expect(await server.violations()).toEqual([]);
  });
  afterAll(() => server.close());

  const submit = (body: unknown) => server.send('POST', '/v1/runs', { body });
  const dryRun = (body: unknown) => server.send('POST', '/v1/runs/dry-run', { body });
  const wakes = () => server.figure('mediator_wakes_total{why="enqueued"}');

  it('A11 answers what exists, never what is free, and stores nothing', async () => {
    const n2 = server.node('A11-N2', [{ role: 'a11-y' }]);
    await server.node('A11-N1', [{ role: 'a11-x' }]).advertise({ label: 'Bench 1' });
    await n2.advertise();
    const both = { requires: [needs('a11-x'), needs('a11-y')], steps: [step('x', 'a11-x'), step('y', 'a11-y')] };
    const contracts = [R('a11-x'), R('a11-y'), both].map((contract, index) => ({
      ...contract,
      run_id: `dry-${index}`,
    }));

    const idle = [];
    for (const contract of contracts) idle.push(await dryRun(contract));
    expect(idle.map(({ status, body }) => ({ status, body }))).toEqual([
      { status: 200, body: { run_id: 'dry-0', state: 'DRY_RUN', assigned: [assigned('a11-x', 'A11-N1', 'Bench 1')] } },
      { status: 200, body: { run_id: 'dry-1', state: 'DRY_RUN', assigned: [assigned('a11-y', 'A11-N2')] } },
      {
        status: 200,
        body: {
          run_id: 'dry-2',
          state: 'DRY_RUN',
          assigned: [assigned('a11-x', 'A11-N1', 'Bench 1'), assigned('a11-y', 'A11-N2')],
        },
      },
    ]);
    for (const { headers } of idle) {
      for (const header of ['location', 'retry-after', 'etag']) expect(headers.has(header)).toBe(false);
    }

    expect((await submit(R('a11-x', { run_id: 'a11-a' }))).status).toBe(201);
    await n2.advertise({ drain: 'graceful' });
    const before = await everything(server.database);
    const woken = await wakes();
    for (const [index, contract] of contracts.entries()) {
      const { status, body } = await dryRun(contract);
      expect({ status, body }).toEqual({ status: 200, body: idle[index]!.body });
    }
    expect(await everything(server.database)).toEqual(before);
    expect(await wakes()).toBe(woken);
    // The same contracts, meant: all of them wait.
    for (const contract of contracts) expect((await submit(contract)).status).toBe(202);
  });

  it('A11 looks no run id up, and makes one where there is none', async () => {
    await server.node('I1', [{ role: 'i' }]).advertise();
    await submit(R('i', { run_id: 'i-a' }));
    const before = await everything(server.database);
    expect(await dryRun(R('i', { run_id: 'i-a', spread: true }))).toMatchObject({
      status: 200,
      body: { run_id: 'i-a', state: 'DRY_RUN', assigned: [assigned('i', 'I1')] },
    });
    const made = [(await dryRun(R('i'))).body.run_id, (await dryRun(R('i'))).body.run_id];
    expect(new Set(made).size).toBe(2);
    for (const id of made) expect(id).toMatch(/^[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/);
    expect(await everything(server.database)).toEqual(before);
  });

  it('what nobody offers, and what is too wide with every node free, is 422 and not stored', async () => {
    for (const n of [1, 2, 3]) await server.node(`W${n}`, [{ role: 'w' }]).advertise();
    const wide = (count: number) => ({
      requires: [needs('w', { count })],
      steps: [step('s', 'w')],
      run_id: `w-${count}`,
    });
    await submit({ ...wide(2), run_id: 'w-held' });
    const before = await everything(server.database);

    // One node is free: a submission of two would wait, a dry run does not know.
    expect((await dryRun(wide(2))).status).toBe(200);
    const tooWide = expectProblem(await dryRun(wide(3)), 422, 'too_wide', '/v1/runs/dry-run');
    expect(tooWide.detail).toMatch(/3 nodes.*at most 2/);
    const nobody = expectProblem(await dryRun(R('w-nowhere', { run_id: 'w-n' })), 422, 'unsatisfiable');
    expect(nobody.detail).toContain('w-nowhere');
    expectProblem(await dryRun(wide(4)), 422, 'unsatisfiable');

    expect(await everything(server.database)).toEqual(before);
    expectProblem(await server.send('GET', '/v1/runs/w-n'), 404, 'not_found', '/v1/runs/w-n');
  });

  it('a node whose advert has ended does not exist', async () => {
    await server.node('L1', [{ role: 'l' }]).advertise();
    expect((await dryRun(R('l'))).status).toBe(200);
    await server.database.sql("UPDATE nodes SET expires_at = clock_timestamp() WHERE node_id = 'L1'");
    expectProblem(await dryRun(R('l')), 422, 'unsatisfiable');
  });
});

function assigned(role: string, nodeId: string, label = nodeId): object {
  return { as: role, nodes: [{ node_id: nodeId, label }] };
}

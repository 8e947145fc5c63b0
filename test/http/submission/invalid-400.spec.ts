import { afterAll, afterEach, beforeAll, describe, expect, it } from '@jest/globals';
import { BROKEN_CONTRACTS } from '../../../src/domain/contract/broken-contracts.fixture.js';
import { R, step } from '../../support/contracts.js';
import { startTestMediator, type TestMediator } from '../../support/mediator.js';
import { expectProblem } from '../../support/problem.js';
import { everything } from '../../support/stored.js';

const MOST_BYTES = 256 * 1024;
const sizeOf = (contract: unknown) => Buffer.byteLength(JSON.stringify(contract));

describe('POST /v1/runs, 400', () => {
  let server: TestMediator;
  let before: Record<string, string[]>;
  beforeAll(async () => {
    server = await startTestMediator();
    // Everything these contracts need is there and free: what keeps them out is their fault alone.
    const capabilities = ['build', 'board', 'b', 'c'].map((capability) => ({ capability }));
    await server.node('N1').advertise({ capabilities });
    before = await everything(server.database);
    expect(before.nodes).toHaveLength(1);
  });
  afterEach(async () => {
    expect(await everything(server.database)).toEqual(before);
    expect(await server.violations()).toEqual([]);
  });
  afterAll(() => server.close());

  const submit = (body: unknown) => server.send('POST', '/v1/runs', { body });
  const dryRun = (body: unknown) => server.send('POST', '/v1/runs/dry-run', { body });

  it('A7 the table has a contract for every rule', () => {
    expect(BROKEN_CONTRACTS.length).toBeGreaterThanOrEqual(60);
    // Over the size there is another answer, since such a body is not read at all.
    expect(BROKEN_CONTRACTS.filter(({ contract }) => sizeOf(contract) > MOST_BYTES)).toHaveLength(1);
  });

  it.each(BROKEN_CONTRACTS.filter(({ contract }) => sizeOf(contract) <= MOST_BYTES))(
    'A7 $name',
    async ({ contract, pointer, says }) => {
      const answer = await submit(contract);
      const problem = expectProblem(answer, 400, 'invalid_contract', '/v1/runs');
      expect(problem.errors).toEqual([{ pointer, detail: expect.stringMatching(says) }]);
      expect(problem.detail).toBe(`${pointer || 'the contract'}: ${problem.errors[0].detail}`);
      for (const header of ['location', 'retry-after', 'etag']) expect(answer.headers.has(header)).toBe(false);
      expect(problem).not.toHaveProperty('run_id');
    },
  );

  it('A7 all faults of one contract are listed, from the top to the bottom', async () => {
    const contract = {
      run_id: 'a b',
      color: 'red',
      work: { system: 'gerrit' },
      requires: [
        { as: 'a', capability: 'Build', count: 0 },
        { as: 'a', capability: 'build' },
      ],
      steps: [
        { id: 's', uses: 'nobody', run: [] },
        { id: 's', uses: 'a' },
        { id: 't', uses: 'a', run: ['x'], needs: ['u'] },
      ],
      success_when: [{ step: 'v', exit_code: 0 }],
    };
    const problem = expectProblem(await submit(contract), 400, 'invalid_contract');
    expect(problem.errors.map((fault: { pointer: string }) => fault.pointer).sort()).toEqual(
      [
        '/color',
        '/requires/0/capability',
        '/requires/0/count',
        '/requires/1/as',
        '/run_id',
        '/steps/0/run',
        '/steps/0/uses',
        '/steps/1',
        '/steps/1/id',
        '/steps/2/needs/0',
        '/success_when/0/step',
        '/work/change_id',
      ].sort(),
    );
    expect(problem.detail).toBe('the contract has 12 faults; see errors');
  });

  it('A7 a dry run finds the same faults', async () => {
    for (const { contract, pointer } of BROKEN_CONTRACTS.slice(0, 20)) {
      const problem = expectProblem(await dryRun(contract), 400, 'invalid_contract', '/v1/runs/dry-run');
      expect(problem.errors).toMatchObject([{ pointer }]);
    }
  });

  it('A7 a contract that is nested 100,000 deep is refused like any other', async () => {
    const body = JSON.stringify({ ...R('x'), work: 0 }).replace(
      '"work":0',
      `"work":${'['.repeat(1e5)}${']'.repeat(1e5)}`,
    );
    const response = await fetch(`${server.url}/v1/runs`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body,
    });
    expect([response.status, await response.json()]).toEqual([
      400,
      expect.objectContaining({ code: 'invalid_contract' }),
    ]);
  });

  it.each([
    ['with a space', 'a b'],
    ['with a slash', 'a/b'],
    ['that is empty', ''],
    ['that leads elsewhere', '..'],
    ['that is too long', 'k'.repeat(201)],
    ['beyond ASCII', 'ü'],
    ['beside another', 'a, b'],
  ])('an Idempotency-Key %s is refused, whether the contract has a run id or not', async (_which, key) => {
    for (const body of [R('x'), R('x', { run_id: 'own' })]) {
      const headers = { 'idempotency-key': key };
      const problem = expectProblem(await server.send('POST', '/v1/runs', { body, headers }), 400, 'invalid_request');
      expect(problem.detail).toMatch(/^Idempotency-Key .* 1 to 200/);
    }
  });

  it.each([
    ['beyond ASCII', 'ü'],
    ['that is too long', 'p'.repeat(201)],
    ['that is empty', ''],
  ])('a Mediator-Principal %s is refused', async (_which, name) => {
    const headers = { 'mediator-principal': name };
    const body = { requires: [{ as: 'a', capability: 'build' }], steps: [step('s', 'a')] };
    const problem = expectProblem(await server.send('POST', '/v1/runs', { body, headers }), 400, 'invalid_request');
    expect(problem.detail).toMatch(/^Mediator-Principal /);
  });
});

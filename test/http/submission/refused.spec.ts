import { afterEach, beforeAll, describe, expect, it } from '@jest/globals';
import { BROKEN_CONTRACTS } from '../../../src/domain/contract/broken-contracts.fixture.js';
import { needs, R, step } from '../../support/contracts.js';
import { expectProblem } from '../../support/problem.js';
import { serverSuite } from '../../support/server-suite.js';
import { everything, rowsOf } from '../../support/stored.js';

const MOST_BYTES = 256 * 1024;
const sizeOf = (contract: unknown) => Buffer.byteLength(JSON.stringify(contract));

describe('POST /v1/runs, 400', () => {
  const server = serverSuite();
  let before: Record<string, string[]>;
  beforeAll(async () => {
    // Everything these contracts need is there and free: what keeps them out is their fault alone.
    const capabilities = ['build', 'board', 'b', 'c'].map((capability) => ({ capability }));
    await server.node('N1').advertise({ capabilities });
    before = await everything(server.database);
    expect(before.nodes).toHaveLength(1);
  });
  afterEach(async () => {
    expect(await everything(server.database)).toEqual(before);
  });
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

const REJECTED = { runs: 1, records: 1, events: 1 };

describe('POST /v1/runs, 422', () => {
  const server = serverSuite({ env: { MEDIATOR_MAX_LEASES_PER_RUN: '1' } });
  const submit = (body: unknown) => server.send('POST', '/v1/runs', { body });
  const shown = async (runId: string) => (await server.send('GET', `/v1/runs/${runId}`)).body;
  const two = (left: string, right: string) => ({
    requires: [needs(left), needs(right)],
    steps: [step('l', left), step('r', right)],
  });

  async function expectRejected(run: { run_id: string; [more: string]: unknown }, reason: string): Promise<any> {
    const answer = await submit(run);
    const problem = expectProblem(answer, 422, reason, '/v1/runs');
    expect(problem.run_id).toBe(run.run_id);
    for (const header of ['location', 'retry-after']) expect(answer.headers.has(header)).toBe(false);
    const stored = await shown(run.run_id);
    expect(stored).toMatchObject({
      state: 'FAILED',
      assigned: [],
      steps: [],
      verdict: { reason, detail: problem.detail, by: { kind: 'server' }, checks: [] },
      record: { state: 'SEALED', digest: expect.stringMatching(/^sha256:[0-9a-f]{64}$/) },
      started_at: null,
      ended_at: stored.created_at,
    });
    expect(stored).not.toHaveProperty('waiting');
    expect(await rowsOf(server.database, run.run_id)).toEqual(REJECTED);
    // It was never QUEUED on its way there.
    expect(
      await server.database.sql(
        'SELECT kind, queued_at, version::int FROM events JOIN runs USING (run_id) WHERE run_id = $1',
        [run.run_id],
      ),
    ).toEqual([{ kind: 'rejected', queued_at: null, version: 1 }]);
    return problem;
  }

  it('A4 what nobody offers is refused, named, and stored as FAILED', async () => {
    const wakes = await server.figure('mediator_wakes_total{why="enqueued"}');
    const { detail } = await expectRejected({ ...R('a4-z'), run_id: 'a4' }, 'unsatisfiable');
    expect(detail).toMatch(/Role "a4-z" needs 1 node that offers board with role="a4-z"; no live node does/);
    expect(await server.figure('mediator_wakes_total{why="enqueued"}')).toBe(wakes);
    const record = await server.send('GET', '/v1/runs/a4/record');
    expect(record.status).toBe(200);
    expect(record.headers.get('etag')).toBe(`"${(await shown('a4')).record.digest}"`);

    // A node that comes too late changes nothing: it does not take the run up, nor does the same submission.
    const node = server.node('A4-N1', [{ role: 'a4-z' }]);
    await node.advertise();
    expect((await node.claim()).status).toBe(204);
    expect(await submit(R('a4-z', { run_id: 'a4' }))).toMatchObject({ status: 200, body: { state: 'FAILED' } });
    expect((await submit(R('a4-z', { run_id: 'a4-again' }))).status).toBe(201);
  });

  it('A4 one entry of a node must offer all of it', async () => {
    await server
      .node('H1', [
        { role: 'h', soc: 'one' },
        { role: 'other', soc: 'two' },
      ])
      .advertise();
    const run = { requires: [needs('h', { attrs: { role: 'h', soc: 'two' } })], steps: [step('only', 'h')] };
    await expectRejected({ ...run, run_id: 'a4-halves' }, 'unsatisfiable');
  });

  it('A4 more nodes than there are, or than can be told apart', async () => {
    await server.node('C1', [{ role: 'c1' }, { role: 'c2' }]).advertise();
    const pair = { requires: [needs('c1', { count: 2 })], steps: [step('only', 'c1')] };
    const { detail } = await expectRejected({ ...pair, run_id: 'a4-count' }, 'unsatisfiable');
    expect(detail).toMatch(/only 1 live node/);
    await expectRejected({ ...two('c1', 'c2'), spread: true, run_id: 'a4-spread' }, 'unsatisfiable');
  });

  it('A4 a node whose advert has ended long ago is not there', async () => {
    await server.node('L1', [{ role: 'l' }]).advertise();
    await server.database.sql("UPDATE nodes SET expires_at = clock_timestamp() - interval '1 h' WHERE node_id = 'L1'");
    await expectRejected({ ...R('l'), run_id: 'a4-late' }, 'unsatisfiable');
  });

  it('A5 what nobody offers wins over what is busy, wherever it stands', async () => {
    await server.node('A5-N1', [{ role: 'a5-x' }]).advertise();
    expect((await submit(R('a5-x', { run_id: 'a5-a' }))).status).toBe(201);
    const { detail } = await expectRejected({ ...two('a5-x', 'a5-z'), run_id: 'a5-b' }, 'unsatisfiable');
    expect(detail).toContain('"a5-z"');
    expect(detail).not.toContain('"a5-x"');
    await expectRejected({ ...two('a5-z', 'a5-x'), run_id: 'a5-c' }, 'unsatisfiable');
    await server.node('A5-N1', [{ role: 'a5-x' }]).advertise({ drain: 'graceful' });
    await expectRejected({ ...two('a5-x', 'a5-z'), run_id: 'a5-d' }, 'unsatisfiable');
  });

  it('A6 two roles on two nodes are wider than a cap of one; on one node they are not', async () => {
    await server.node('A6-N1', [{ role: 'a6-x' }]).advertise();
    await server.node('A6-N2', [{ role: 'a6-y' }]).advertise();
    const { detail } = await expectRejected({ ...two('a6-x', 'a6-y'), run_id: 'a6-a' }, 'too_wide');
    expect(detail).toMatch(/2 nodes.*at most 1/);
    expect(await server.database.sql("SELECT 1 FROM leases WHERE node_id IN ('A6-N1', 'A6-N2')")).toEqual([]);
    expect(await submit({ ...two('a6-x', 'a6-y'), run_id: 'a6-a' })).toMatchObject({
      status: 200,
      body: { state: 'FAILED', verdict: { reason: 'too_wide' } },
    });

    await server.node('A6-N3', [{ role: 'a6-v' }, { role: 'a6-w' }]).advertise();
    const narrow = await submit({ ...two('a6-v', 'a6-w'), run_id: 'a6-b' });
    expect(narrow.status).toBe(201);
    expect(await server.database.sql("SELECT node_id, roles FROM leases WHERE run_id = 'a6-b'")).toEqual([
      { node_id: 'A6-N3', roles: ['a6-v', 'a6-w'] },
    ]);
  });

  it('A6 the width is judged on an assignment that was found: busy comes first', async () => {
    await server.node('B1', [{ role: 'b-x' }]).advertise();
    await server.node('B2', [{ role: 'b-y' }]).advertise();
    await submit(R('b-x', { run_id: 'b-a' }));
    const { status, body } = await submit({ ...two('b-x', 'b-y'), run_id: 'b-b' });
    expect([status, body.state, body.waiting.reason]).toEqual([202, 'QUEUED', 'BUSY']);
    await server.send('POST', '/v1/runs/b-a/cancel');
    expect(await shown('b-b')).toMatchObject({ state: 'QUEUED', waiting: { reason: 'TOO_WIDE' } });
  });
});

describe('POST /v1/runs/dry-run', () => {
  const server = serverSuite({ env: { MEDIATOR_MAX_LEASES_PER_RUN: '2' } });
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

  it('a node whose advert has ended exists for as long as it is remembered', async () => {
    await server.node('L1', [{ role: 'l' }]).advertise();
    expect((await dryRun(R('l'))).status).toBe(200);
    await server.database.sql("UPDATE nodes SET expires_at = clock_timestamp() WHERE node_id = 'L1'");
    expect((await dryRun(R('l'))).status).toBe(200);
    await server.database.sql("UPDATE nodes SET expires_at = clock_timestamp() - interval '1 h' WHERE node_id = 'L1'");
    expectProblem(await dryRun(R('l')), 422, 'unsatisfiable');
  });
});

function assigned(role: string, nodeId: string, label = nodeId): object {
  return { as: role, nodes: [{ node_id: nodeId, label }] };
}

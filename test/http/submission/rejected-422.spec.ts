import { afterAll, afterEach, beforeAll, describe, expect, it } from '@jest/globals';
import { R, needs, step } from '../../support/contracts.js';
import { startTestMediator, type TestMediator } from '../../support/mediator.js';
import { expectProblem } from '../../support/problem.js';
import { rowsOf } from '../../support/stored.js';

const REJECTED = { runs: 1, records: 1, events: 1 };

describe('POST /v1/runs, 422', () => {
  let server: TestMediator;
  beforeAll(async () => {
    // A run may lease one node, which matters to `too_wide` only: it is judged last.
    server = await startTestMediator({ env: { MEDIATOR_MAX_LEASES_PER_RUN: '1' } });
  });
  afterEach(async () => {
    expect(await server.violations()).toEqual([]);
  });
  afterAll(() => server.close());

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

  it('A4 a node whose advert has ended is not there', async () => {
    await server.node('L1', [{ role: 'l' }]).advertise();
    await server.database.sql("UPDATE nodes SET expires_at = clock_timestamp() WHERE node_id = 'L1'");
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

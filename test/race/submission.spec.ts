import { describe, expect, it } from '@jest/globals';
import { barrier } from '../support/barrier.js';
import { needs, R, step } from '../support/contracts.js';
import type { Answer } from '../support/http.js';
import type { PlayedNode } from '../support/played-node.js';
import { hold, once } from '../support/failpoints.js';
import { serverSuite } from '../support/server-suite.js';
import { rowsOf } from '../support/stored.js';

const QUEUED = { runs: 1, steps: 1, records: 1, events: 1 };
const RUNNING = { ...QUEUED, leases: 1, grants: 1 };

describe('submissions that race', () => {
  const server = serverSuite();
  const submit = (body: unknown) => server.send('POST', '/v1/runs', { body });
  const shown = async (runId: string) => (await server.send('GET', `/v1/runs/${runId}`)).body;
  const cancel = async (runId: string) => (await server.send('POST', `/v1/runs/${runId}/cancel`)).status;
  const kindsOf = async (runId: string) =>
    (await server.database.sql<{ kind: string }>('SELECT kind FROM events WHERE run_id = $1 ORDER BY id', [runId])).map(
      ({ kind }) => kind,
    );
  const leases = async (...nodes: string[]) =>
    server.database.sql('SELECT node_id, run_id FROM leases WHERE node_id = ANY ($1) ORDER BY node_id', [nodes]);
  const statuses = (answers: Answer[]) => answers.map(({ status }) => status).sort();

  /** All that is stored of a queued run was written by the one transaction that queued it. */
  async function expectQueuedAtOnce(runId: string, steps = 1): Promise<void> {
    expect(await rowsOf(server.database, runId)).toEqual({ ...QUEUED, steps });
    expect(await kindsOf(runId)).toEqual(['queued']);
    const [written] = await server.database.sql(
      `SELECT count(DISTINCT xmin::text)::int AS transactions
         FROM (SELECT xmin, run_id FROM runs UNION ALL SELECT xmin, run_id FROM steps
               UNION ALL SELECT xmin, run_id FROM records UNION ALL SELECT xmin, run_id FROM events) r WHERE run_id = $1`,
      [runId],
    );
    expect(written).toEqual({ transactions: 1 });
    const [run] = await server.database.sql(
      'SELECT state, assigned, started_at, promoted_at, version::int FROM runs WHERE run_id = $1',
      [runId],
    );
    expect(run).toEqual({ state: 'QUEUED', assigned: null, started_at: null, promoted_at: null, version: 1 });
  }

  it.each([1, 2, 3])('A8 six at once for the same two nodes: one has both, five wait (round %i)', async (round) => {
    const [x, y] = [`a8-x${round}`, `a8-y${round}`];
    const nodes = [`A8-N1-${round}`, `A8-N2-${round}`];
    await server.node(nodes[0]!, [{ role: x }]).advertise();
    await server.node(nodes[1]!, [{ role: y }]).advertise();
    // Half of them name the roles the other way round: that must not make them wait for each other in a circle.
    const contract = (n: number) => ({
      run_id: `a8-${round}-${n}`,
      requires: n % 2 === 0 ? [needs(x), needs(y)] : [needs(y), needs(x)],
      steps: [step('x', x), step('y', y)],
    });
    // All of them have seen both nodes free before any goes on; in the last round they come as they come.
    if (round < 3) barrier('submit.matched', 6);

    const answers = await Promise.all([0, 1, 2, 3, 4, 5].map((n) => submit(contract(n))));

    expect(statuses(answers)).toEqual([201, 202, 202, 202, 202, 202]);
    const winner = answers.find(({ status }) => status === 201)!.body.run_id;
    expect(await leases(...nodes)).toEqual(nodes.map((node_id) => ({ node_id, run_id: winner })));
    const others = answers.filter(({ status }) => status === 202).map(({ body }) => body);
    for (const body of others) {
      expect(body).toMatchObject({ state: 'QUEUED', assigned: [] });
      await expectQueuedAtOnce(body.run_id, 2);
    }
    // The next in line has both nodes as soon as they are free, and is alone with them.
    const arrival = await server.database.sql<{ run_id: string }>(
      "SELECT run_id FROM runs WHERE state = 'QUEUED' AND run_id = ANY ($1) ORDER BY created_at, seq",
      [others.map((body) => body.run_id)],
    );
    expect(await cancel(winner)).toBe(200);
    expect(await leases(...nodes)).toEqual(nodes.map((node_id) => ({ node_id, run_id: arrival[0]!.run_id })));
    expect((await shown(arrival[1]!.run_id)).state).toBe('QUEUED');
    // Those that wait first, so that no cancel promotes another.
    for (const { run_id } of arrival.reverse()) await cancel(run_id);
  });

  it.each(['submit.matched', 'create.before-grant'])(
    'A9 a node taken by another run at %s: 202, and nothing is left of the failed attempt',
    async (where) => {
      const role = `a9-${where.replace('.', '-')}`;
      await server.node(`N1-${where}`, [{ role }]).advertise();
      const late = hold(where);
      const b = submit(R(role, { run_id: `b-${where}` }));
      await late.reached;
      expect((await submit(R(role, { run_id: `a-${where}` }))).status).toBe(201);
      late.letGo();

      const { status, headers, body } = await b;
      expect(status).toBe(202);
      expect(headers.get('retry-after')).toBe('3600');
      expect(headers.get('location')).toBe(`/v1/runs/b-${where}`);
      expect(body).toMatchObject({
        state: 'QUEUED',
        assigned: [],
        waiting: { reason: 'BUSY', roles: [{ holders: [{ run_id: `a-${where}` }] }] },
        steps: [{ state: 'PENDING', node_id: null }],
      });
      await expectQueuedAtOnce(`b-${where}`);
      expect(await leases(`N1-${where}`)).toEqual([{ node_id: `N1-${where}`, run_id: `a-${where}` }]);
      const [story] = await server.database.sql(
        "SELECT wait_reason, wait_holders->0->>'run_id' AS holder FROM runs WHERE run_id = $1",
        [`b-${where}`],
      );
      expect(story).toEqual({ wait_reason: 'BUSY', holder: `a-${where}` });
      // Nor is it lost: it is the next.
      expect(await cancel(`a-${where}`)).toBe(200);
      expect((await shown(`b-${where}`)).state).toBe('RUNNING');
    },
  );

  it('two at once, where there is room for both, take a node each, and neither waits', async () => {
    for (const node of ['W1', 'W2']) await server.node(node, [{ role: 'w' }]).advertise();
    const first = hold('create.before-grant');
    const a = submit(R('w', { run_id: 'w-a' }));
    await first.reached;
    expect((await submit(R('w', { run_id: 'w-b' }))).status).toBe(201);
    first.letGo();
    expect((await a).status).toBe(201);
    expect(await leases('W1', 'W2')).toEqual([
      { node_id: 'W1', run_id: 'w-a' },
      { node_id: 'W2', run_id: 'w-b' },
    ]);
    expect(await kindsOf('w-a')).toEqual(['granted']);
  });

  it('A9 one of two nodes is taken: the other is not kept', async () => {
    await server.node('P1', [{ role: 'p-x' }]).advertise();
    await server.node('P2', [{ role: 'p-y' }]).advertise();
    const both = { requires: [needs('p-x'), needs('p-y')], steps: [step('x', 'p-x'), step('y', 'p-y')] };
    once('create.before-grant', () => submit(R('p-y', { run_id: 'p-a' })));

    expect((await submit({ ...both, run_id: 'p-b' })).status).toBe(202);

    await expectQueuedAtOnce('p-b', 2);
    expect(await leases('P1', 'P2')).toEqual([{ node_id: 'P2', run_id: 'p-a' }]);
    expect(await server.database.sql("SELECT 1 FROM grants WHERE node_id = 'P1'")).toEqual([]);
    expect((await submit(R('p-x', { run_id: 'p-c' }))).status).toBe(201);
  });

  it.each<[string, string, Record<string, unknown>]>([
    ['drains', 'DRAINING', { drain: 'graceful' }],
    ['offers something else', 'OFFLINE', { capabilities: [{ capability: 'board', attrs: { role: 'else' } }] }],
  ])('A9 a node that %s in between is not leased: 202, never an error', async (what, reason, advert) => {
    const role = `gone-${reason}`;
    const node = server.node(`N-${reason}`, [{ role }]);
    await node.advertise();
    once('create.before-grant', () => node.advertise(advert));
    const { status, body } = await submit(R(role, { run_id: `run-${reason}` }));
    expect([status, body.state, body.waiting.reason, what]).toEqual([202, 'QUEUED', reason, what]);
    await expectQueuedAtOnce(`run-${reason}`);
  });

  it('A9 where the node is free again by the time the run is queued, it is RUNNING after all', async () => {
    await server.node('F1', [{ role: 'f' }]).advertise();
    once('create.before-grant', async () => {
      expect((await submit(R('f', { run_id: 'f-a' }))).status).toBe(201);
      once('enqueue.before-commit', () => cancel('f-a'));
    });
    const { status, body } = await submit(R('f', { run_id: 'f-b' }));
    expect([status, body.state]).toEqual([201, 'RUNNING']);
    expect(await kindsOf('f-b')).toEqual(['queued', 'promoted']);
    expect(await rowsOf(server.database, 'f-b')).toEqual({ ...RUNNING, events: 2 });
  });

  it.each([
    ['taken', 202, 'QUEUED'],
    ['free', 201, 'RUNNING'],
    ['nowhere', 422, 'FAILED'],
  ])('A10 one run id submitted twice at once, its node %s: one is %i, the other 200', async (which, status, state) => {
    const role = `a10-${which}`;
    const run_id = `${role}-b`;
    if (which !== 'nowhere') await server.node(`A10-${which}`, [{ role }]).advertise();
    if (which === 'taken') await submit(R(role, { run_id: `${role}-a` }));
    // Both have found no such run before either stores it.
    barrier('submit.matched', 2);

    const answers = await Promise.all([submit(R(role, { run_id })), submit(R(role, { run_id }))]);

    expect(statuses(answers)).toEqual([200, status]);
    const existed = answers.find((answer) => answer.status === 200)!;
    expect(existed.body).toMatchObject({ run_id, state });
    expect(existed.body).not.toHaveProperty('warnings');
    const { steps, ...rejected } = QUEUED;
    expect(await rowsOf(server.database, run_id)).toEqual(
      { QUEUED, RUNNING, FAILED: rejected }[state as 'QUEUED' | 'RUNNING' | 'FAILED'],
    );
    expect(steps).toBe(1);
  });

  it('A10 one run id submitted twice at once, each matched with another node: the run has one of them', async () => {
    for (const node of ['D1', 'D2']) await server.node(node, [{ role: 'd' }]).advertise();
    barrier('submit.matched', 2);
    const answers = await Promise.all([submit(R('d', { run_id: 'd-a' })), submit(R('d', { run_id: 'd-a' }))]);
    expect(statuses(answers)).toEqual([200, 201]);
    expect(await leases('D1', 'D2')).toEqual([{ node_id: expect.any(String), run_id: 'd-a' }]);
  });

  it('A10 the other contract of the two gets the warning', async () => {
    await server.node('O1', [{ role: 'o' }]).advertise();
    const contracts = [R('o', { run_id: 'o-a' }), R('o', { run_id: 'o-a', spread: true })];
    barrier('submit.matched', 2);
    const answers = await Promise.all(contracts.map(submit));
    expect(statuses(answers)).toEqual([200, 201]);
    expect(answers.find(({ status }) => status === 200)!.body.warnings).toHaveLength(1);
    const [row] = await server.database.sql("SELECT contract FROM runs WHERE run_id = 'o-a'");
    expect(row).toEqual({ contract: contracts[answers.findIndex(({ status }) => status === 201)] });
  });

  it('A10 twice at once, and another run takes the node before both: one is 202, the other 200', async () => {
    await server.node('T1', [{ role: 't' }]).advertise();
    barrier('submit.matched', 2, () => submit(R('t', { run_id: 't-a' })));
    const answers = await Promise.all([submit(R('t', { run_id: 't-b' })), submit(R('t', { run_id: 't-b' }))]);
    expect(statuses(answers)).toEqual([200, 202]);
    await expectQueuedAtOnce('t-b');
    expect(await leases('T1')).toEqual([{ node_id: 'T1', run_id: 't-a' }]);
  });
});

describe('a node that is given back while a run is being queued', () => {
  const server = serverSuite();
  const submit = (body: unknown) => server.send('POST', '/v1/runs', { body });
  const shown = async (runId: string) => (await server.send('GET', `/v1/runs/${runId}`)).body;

  /** A node of this role, held by a run. */
  async function held(role: string): Promise<PlayedNode> {
    const node = server.node(`N-${role}`, [{ role }]);
    await node.advertise();
    expect((await submit(R(role, { run_id: `${role}-a` }))).status).toBe(201);
    return node;
  }

  it.each<[string, string]>([
    ['submit.matched', 'enqueued'],
    ['enqueue.before-commit', 'enqueued'],
    ['enqueue.committed', 'result'],
  ])('A13 at %s: the answer is 201 RUNNING', async (where, why) => {
    const role = `a13-${where.replace('.', '-')}`;
    const node = await held(role);
    const late = hold(where);
    const b = submit(R(role, { run_id: `${role}-b` }));
    await late.reached;
    // The release commits and wakes, and the wake is over, while the row of b is not there, or b has not woken yet.
    expect((await node.work()).body.run_state).toBe('SUCCEEDED');
    late.letGo();

    const { status, headers, body } = await b;
    expect(status).toBe(201);
    expect(headers.get('location')).toBe(`/v1/runs/${role}-b`);
    expect(headers.get('etag')).toBe(`"${body.version}"`);
    expect(headers.has('retry-after')).toBe(false);
    expect(body).toMatchObject({
      state: 'RUNNING',
      assigned: [{ as: role, nodes: [{ node_id: `N-${role}` }] }],
      steps: [{ state: 'PENDING', node_id: `N-${role}` }],
      ended_at: null,
    });
    expect(body.started_at).not.toBeNull();
    expect(body).not.toHaveProperty('waiting');
    expect(await rowsOf(server.database, `${role}-b`)).toEqual({
      runs: 1,
      steps: 1,
      leases: 1,
      grants: 1,
      records: 1,
      events: 2,
    });
    // It was queued and promoted, and by whom; it did not start at once.
    const [story] = await server.database.sql(
      'SELECT queued_at IS NOT NULL AS queued, promoted_whys, wait_reason FROM runs WHERE run_id = $1',
      [`${role}-b`],
    );
    expect(story).toEqual({ queued: true, promoted_whys: [why], wait_reason: 'BUSY' });
    expect((await node.claim()).body).toMatchObject({ run_id: `${role}-b`, seq: 1 });
  });

  it('A13 a node that joins at that moment is taken too', async () => {
    await held('join');
    once('enqueue.before-commit', () => server.node('N-joined', [{ role: 'join' }]).advertise());
    const { status, body } = await submit(R('join', { run_id: 'join-b' }));
    expect([status, body.steps[0].node_id]).toEqual([201, 'N-joined']);
  });

  it('A13 whoever is first in line has it, also where that is not the run being submitted', async () => {
    const node = await held('line');
    expect((await submit(R('line', { run_id: 'line-b' }))).status).toBe(202);
    once('enqueue.before-commit', () => node.work());
    expect(await submit(R('line', { run_id: 'line-c' }))).toMatchObject({ status: 202, body: { state: 'QUEUED' } });
    expect((await shown('line-b')).state).toBe('RUNNING');
  });

  it('A13 the answer is 201 with the state the run has by then, were it over', async () => {
    const node = await held('over');
    once('enqueue.committed', async () => {
      expect((await node.work()).body.run_state).toBe('SUCCEEDED');
      expect((await node.work({ exit_code: 3 })).body).toMatchObject({ run_id: 'over-b', run_state: 'FAILED' });
    });
    const { status, headers, body } = await submit(R('over', { run_id: 'over-b' }));
    expect([status, body.state, body.verdict.reason]).toEqual([201, 'FAILED', 'step_failed']);
    expect(headers.has('retry-after')).toBe(false);
  });

  it('A13 one of two nodes given back is not enough, and is not taken', async () => {
    const node = await held('half');
    await held('other');
    const both = { requires: [needs('half'), needs('other')], steps: [step('h', 'half'), step('o', 'other')] };
    once('enqueue.before-commit', () => node.work());
    const { status } = await submit({ ...both, run_id: 'half-b' });
    expect(status).toBe(202);
    expect(await server.database.sql("SELECT 1 FROM leases WHERE node_id = 'N-half'")).toEqual([]);
  });
});

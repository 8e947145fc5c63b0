import { describe, expect, it } from '@jest/globals';
import { barrier } from '../../support/barrier.js';
import { R } from '../../support/contracts.js';
import { expectProblem } from '../../support/problem.js';
import { serverSuite } from '../../support/server-suite.js';
import { everything } from '../../support/stored.js';

describe('the id of a run', () => {
  const server = serverSuite();
  const submit = (body: unknown, headers: Record<string, string> = {}) =>
    server.send('POST', '/v1/runs', { body, headers });

  it("is the Idempotency-Key where the contract has none, and the contract's where it has one", async () => {
    await server.node('K1', [{ role: 'k' }]).advertise();
    const first = await submit(R('k'), { 'idempotency-key': 'build:4711@ci+1' });
    expect([first.status, first.body.run_id]).toEqual([201, 'build:4711@ci+1']);
    // The key is no part of the contract.
    const [row] = await server.database.sql('SELECT contract FROM runs WHERE run_id = $1', [first.body.run_id]);
    expect(row).toEqual({ contract: R('k') });
    const own = await submit(R('k', { run_id: 'own' }), { 'idempotency-key': 'not-this' });
    expect([own.status, own.body.run_id]).toEqual([202, 'own']);
    expect((await server.send('GET', '/v1/runs/not-this')).status).toBe(404);
  });

  it('H8: an Idempotency-Key in quotes, as a structured field has it, is the same as without', async () => {
    await server.node('Q1', [{ role: 'q' }]).advertise();
    const first = await submit(R('q'), { 'idempotency-key': 'q:1' });
    expect([first.status, first.body.run_id]).toEqual([201, 'q:1']);
    const again = await submit(R('q'), { 'idempotency-key': '"q:1"' });
    expect([again.status, again.body.run_id]).toEqual([200, 'q:1']);
    for (const key of ['"q:1', 'q:1"', '""', '"a\\"b"', '"q"1"', '"q:1";x']) {
      expect([key, (await submit(R('q'), { 'idempotency-key': key })).status]).toEqual([key, 400]);
    }
  });

  it('is made by the server otherwise, and sorts by time', async () => {
    await server.node('M1', [{ role: 'm' }]).advertise();
    const made: string[] = [];
    for (let n = 0; n < 40; n++) made.push((await submit(R('m'))).body.run_id);
    expect(new Set(made).size).toBe(40);
    for (const id of made) expect(id).toMatch(/^[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/);
    expect([...made].sort()).toEqual(made);
    const arrival = await server.database.sql<{ run_id: string }>(
      'SELECT run_id FROM runs WHERE run_id = ANY ($1) ORDER BY created_at, seq',
      [made],
    );
    expect(arrival.map(({ run_id }) => run_id)).toEqual(made);
  });

  it.each([
    ['every allowed character', 'AZaz09._:@+-'],
    ['a plus alone', '+'],
    ['dots', '...'],
    ['a dot before', '.a'],
    ['the greatest length', `r${'@'.repeat(199)}`],
    ['the name of a route', 'dry-run'],
    ['the name of a verb', 'cancel'],
    ['a name of JavaScript', '__proto__'],
    ['another', 'constructor'],
  ])('may have %s, in every path', async (_which, id) => {
    const role = `r${Buffer.from(id).toString('hex').slice(0, 40)}`;
    const node = server.node(`N-${role}`, [{ role }]);
    await node.advertise();

    const created = await submit(R(role, { run_id: id }));
    expect([created.status, created.body.run_id]).toEqual([201, id]);
    const location = created.headers.get('location')!;
    expect(decodeURIComponent(location)).toBe(`/v1/runs/${id}`);
    for (const path of [location, `/v1/runs/${id}`]) {
      expect(await server.send('GET', path)).toMatchObject({ status: 200, body: { run_id: id, state: 'RUNNING' } });
    }
    expect((await server.send('GET', `/v1/runs/${id}/record`)).body.code).toBe('not_sealed');
    expect((await submit(R(role, { run_id: id }))).status).toBe(200);
    expect((await submit(R(role), { 'idempotency-key': id })).status).toBe(200);
    const { items } = (await server.send('GET', '/v1/nodes')).body;
    expect(items.find((one: { node_id: string }) => one.node_id === node.nodeId).lease.run_id).toBe(id);

    // Reported, and its record read.
    expect((await node.work()).body).toMatchObject({ run_id: id, run_state: 'SUCCEEDED' });
    expect((await server.send('GET', `${location}/record`)).status).toBe(200);
    expect(await server.send('POST', `/v1/runs/${id}/cancel`)).toMatchObject({
      status: 200,
      body: { run_id: id, state: 'SUCCEEDED' },
    });
  });

  it('may have every allowed character while it waits, too', async () => {
    const id = 'w.a_i:t@s+-';
    await server.node('W1', [{ role: 'w' }]).advertise();
    await submit(R('w', { run_id: `${id}1` }));
    expect((await submit(R('w', { run_id: id }))).status).toBe(202);
    const { items } = (await server.send('GET', '/v1/queue?limit=200')).body;
    const waiting = items.find((one: { run_id: string }) => one.run_id === id).waiting;
    expect(waiting.roles[0].holders[0].run_id).toBe(`${id}1`);
    expect((await server.send('POST', `/v1/runs/${encodeURIComponent(id)}/cancel`)).body.state).toBe('CANCELLED');
  });
});

describe('POST /v1/runs, 200', () => {
  const server = serverSuite();
  const submit = (body: unknown, headers: Record<string, string> = {}) =>
    server.send('POST', '/v1/runs', { body, headers });

  it('A3 a queued run submitted again is answered 200 and stays one row; another contract gives a warning', async () => {
    await server.node('A3-N1', [{ role: 'a3' }]).advertise();
    await submit(R('a3', { run_id: 'a3-a' }));
    const first = await submit(R('a3', { run_id: 'a3-b' }));
    const before = await everything(server.database);
    const wakes = await server.figure('mediator_wakes_total{why="enqueued"}');

    const same = await submit(R('a3', { run_id: 'a3-b' }));
    expect(same.status).toBe(200);
    expect(same.body).toEqual(first.body);
    expect(same.headers.get('location')).toBe('/v1/runs/a3-b');
    expect(same.headers.get('etag')).toBe(first.headers.get('etag'));

    const other = await submit(R('a3', { run_id: 'a3-b', work: { system: 's', change_id: '1' } }));
    expect(other.status).toBe(200);
    const { warnings, ...run } = other.body;
    expect(warnings).toEqual([expect.stringMatching(/another contract/)]);
    expect(run).toEqual(first.body);

    expect(await everything(server.database)).toEqual(before);
    expect(await server.figure('mediator_wakes_total{why="enqueued"}')).toBe(wakes);
  });

  it('A3 the order of keys and white space make no other contract; a default written out does', async () => {
    await server.node('O1', [{ role: 'o' }]).advertise();
    await submit(R('o', { run_id: 'o-a' }));
    const turned = Object.fromEntries(Object.entries(R('o', { run_id: 'o-a' })).reverse());
    const spaced = await fetch(`${server.url}/v1/runs`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify(turned, null, 4),
    });
    expect(spaced.status).toBe(200);
    expect(await spaced.json()).not.toHaveProperty('warnings');
    expect((await submit(R('o', { run_id: 'o-a', spread: false }))).body.warnings).toHaveLength(1);
  });

  it('A3 whatever state the run has, it is that which is answered', async () => {
    const node = server.node('E1', [{ role: 'e' }]);
    await node.advertise();
    const again = async (run_id: string, role = 'e') => {
      const { status, body } = await submit(R(role, { run_id }));
      return [status, body.state];
    };
    await submit(R('e', { run_id: 'e-a' }));
    expect(await again('e-a')).toEqual([200, 'RUNNING']);
    await node.work();
    expect(await again('e-a')).toEqual([200, 'SUCCEEDED']);

    await submit(R('e', { run_id: 'e-b' }));
    await submit(R('e', { run_id: 'e-c' }));
    await server.send('POST', '/v1/runs/e-c/cancel');
    expect(await again('e-c')).toEqual([200, 'CANCELLED']);
    await node.work({ exit_code: 1 });
    expect(await again('e-b')).toEqual([200, 'FAILED']);

    expect((await submit(R('e-nowhere', { run_id: 'e-d' }))).status).toBe(422);
    const { status, body } = await submit(R('e-nowhere', { run_id: 'e-d' }));
    expect([status, body.verdict.reason]).toEqual([200, 'unsatisfiable']);
    // The node is free all the while: none of these was run again.
    expect(await server.database.sql("SELECT 1 FROM leases WHERE node_id = 'E1'")).toEqual([]);
  });

  it('A3 a run that exists is not matched again: another contract that nobody could serve is 200, an invalid one 400', async () => {
    await server.node('X1', [{ role: 'x' }]).advertise();
    const first = await submit(R('x', { run_id: 'x-a' }));
    const other = await submit(R('x-nowhere', { run_id: 'x-a' }));
    expect([other.status, other.body.requires]).toEqual([200, first.body.requires]);
    expect(other.body.warnings).toHaveLength(1);
    expect((await submit(R('x', { run_id: 'x-a', steps: [] }))).status).toBe(400);
  });

  it('A3 the run is found by its Idempotency-Key too', async () => {
    await server.node('I1', [{ role: 'i' }]).advertise();
    const send = () => submit(R('i'), { 'idempotency-key': 'i-key', 'mediator-principal': 'alice' });
    expect(await send()).toMatchObject({ status: 201, body: { run_id: 'i-key', principal: 'alice' } });
    const second = await send();
    expect(second).toMatchObject({ status: 200, body: { run_id: 'i-key', principal: 'alice' } });
    expect(second.body).not.toHaveProperty('warnings');
    expect(second.headers.get('location')).toBe('/v1/runs/i-key');
  });
});

describe('POST /v1/runs, 422 run_id_taken', () => {
  const server = serverSuite();
  const by = (principal: string | undefined, contract: unknown, headers: Record<string, string> = {}) =>
    server.send('POST', '/v1/runs', {
      body: contract,
      headers: { ...headers, ...(principal !== undefined && { 'mediator-principal': principal }) },
    });

  /** What it says of the other's run: its id, which was sent, whose it is, and not a word more. */
  async function expectTaken(contract: Record<string, unknown>, principal = 'ann'): Promise<void> {
    const before = await everything(server.database);
    const wakes = await server.figure('mediator_wakes_total{why="enqueued"}');
    const answer = await by('bob', contract);
    const run_id = contract.run_id as string;
    const detail = `run ${run_id} already exists and belongs to ${principal}: submit under another id`;
    const { type, title, status, instance, code, request_id, ...rest } = answer.body;
    expectProblem(answer, 422, 'run_id_taken', '/v1/runs');
    expect([type, title, status, instance, code]).toEqual([
      '/problems/run_id_taken',
      'The run id is taken',
      422,
      '/v1/runs',
      'run_id_taken',
    ]);
    expect(request_id).toEqual(expect.any(String));
    expect(rest).toEqual({ detail, run_id, principal });
    expect([answer.headers.get('location'), answer.headers.get('etag')]).toEqual([null, null]);
    expect(await everything(server.database)).toEqual(before);
    expect(await server.figure('mediator_wakes_total{why="enqueued"}')).toBe(wakes);
  }

  it('N4: another principal submits a run id that exists: 422 run_id_taken; its own again: 200', async () => {
    await server.node('N4-N1', [{ role: 'n4' }]).advertise();
    const contract = R('n4', { run_id: 'n4-a' });
    expect((await by('ann', contract)).status).toBe(201);
    await expectTaken(contract);
    expect(await by('ann', contract)).toMatchObject({ status: 200, body: { run_id: 'n4-a', state: 'RUNNING' } });
  });

  it('N4: in every state, whatever the contract', async () => {
    const node = server.node('S1', [{ role: 's' }]);
    await node.advertise();
    const [running, waiting] = [R('s', { run_id: 's-a' }), R('s', { run_id: 's-b' })];
    await by('ann', running);
    await by('ann', waiting);
    const others = (run_id: string) => [
      R('s', { run_id }),
      R('s', { run_id, spread: true }),
      R('s-nowhere', { run_id }),
      R('n4', { run_id }),
    ];
    for (const contract of [...others('s-a'), ...others('s-b')]) await expectTaken(contract);
    await server.send('POST', '/v1/runs/s-b/cancel');
    await node.work();
    expect((await by('ann', R('s-nowhere', { run_id: 's-c' }))).status).toBe(422);
    for (const run_id of ['s-a', 's-b', 's-c']) for (const contract of others(run_id)) await expectTaken(contract);
    const mine = await Promise.all(['s-a', 's-b', 's-c'].map((run_id) => by('ann', R('s', { run_id }))));
    expect(mine.map(({ status, body }) => [status, body.state])).toEqual([
      [200, 'SUCCEEDED'],
      [200, 'CANCELLED'],
      [200, 'FAILED'],
    ]);
  });

  it('N4: who names nobody is anonymous, and that is somebody too; the id may come as Idempotency-Key', async () => {
    await server.node('K1', [{ role: 'k' }]).advertise();
    expect((await by(undefined, R('k', { run_id: 'k-a' }))).status).toBe(201);
    await expectTaken(R('k', { run_id: 'k-a' }), 'anonymous');
    const second = await by('bob', R('k'), { 'idempotency-key': 'k-a' });
    expect(second).toMatchObject({ status: 422, body: { code: 'run_id_taken', principal: 'anonymous' } });
    expect((await by(undefined, R('k'), { 'idempotency-key': 'k-a' })).status).toBe(200);
  });

  it('N4: a contract that is not valid is refused as such, and a dry run looks no id up', async () => {
    expect(await by('bob', R('n4', { run_id: 'n4-a', steps: [] }))).toMatchObject({
      status: 400,
      body: { code: 'invalid_contract' },
    });
    const dry = await server.send('POST', '/v1/runs/dry-run', {
      body: R('n4', { run_id: 'n4-a' }),
      headers: { 'mediator-principal': 'bob' },
    });
    expect(dry).toMatchObject({ status: 200, body: { run_id: 'n4-a', state: 'DRY_RUN' } });
  });

  it.each([
    ['free', 201],
    ['taken', 202],
    ['nowhere', 422],
  ])('N4: two principals at once, the node %s: one is %i, the other is told whose it is', async (which, status) => {
    const role = `race-${which}`;
    const run_id = `${role}-b`;
    if (which !== 'nowhere') await server.node(`RACE-${which}`, [{ role }]).advertise();
    if (which === 'taken') await by('ann', R(role, { run_id: `${role}-a` }));
    // Both have found no such run before either stores it.
    barrier('submit.matched', 2);
    const answers = await Promise.all(['ann', 'bob'].map((who) => by(who, R(role, { run_id }))));
    const [owner] = await server.database.sql<{ principal: string }>('SELECT principal FROM runs WHERE run_id = $1', [
      run_id,
    ]);
    const [first, late] = owner!.principal === 'ann' ? answers : answers.reverse();
    expect(first!.status).toBe(status);
    expect(first!.body.code).not.toBe('run_id_taken');
    expect(late).toMatchObject({ status: 422, body: { code: 'run_id_taken', run_id, principal: owner!.principal } });
  });
});

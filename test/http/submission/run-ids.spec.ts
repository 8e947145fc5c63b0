import { afterAll, afterEach, beforeAll, describe, expect, it } from '@jest/globals';
import { R } from '../../support/contracts.js';
import { startTestMediator, type TestMediator } from '../../support/mediator.js';

describe('the id of a run', () => {
  let server: TestMediator;
  beforeAll(async () => {
    server = await startTestMediator();
  });
  afterEach(async () => {
    expect(await server.violations()).toEqual([]);
  });
  afterAll(() => server.close());

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

import { describe, expect, it } from '@jest/globals';
import { R } from '../../support/contracts.js';
import type { PlayedNode } from '../../support/played-node.js';
import { once } from '../../support/failpoints.js';
import { expectProblem } from '../../support/problem.js';
import { cancel, countWakes, promotion, show, submit } from '../../support/queue.js';
import { serverSuite } from '../../support/server-suite.js';
import { everything } from '../../support/stored.js';
import { bearer, TokensFile } from '../../support/tokens.js';

describe('a node that an operator takes out of service', () => {
  const server = serverSuite();
  const as = (principal: string): { headers: Record<string, string> } => ({
    headers: { 'mediator-principal': principal },
  });
  const hold = (nodeId: string, reason: unknown, by = 'olga'): Promise<any> =>
    server.send('PUT', `/v1/nodes/${nodeId}/hold`, { body: { reason }, ...as(by) });
  const lift = (nodeId: string): Promise<any> => server.send('DELETE', `/v1/nodes/${nodeId}/hold`, as('otto'));
  const forget = (nodeId: string): Promise<any> => server.send('DELETE', `/v1/nodes/${nodeId}`, as('otto'));
  const node = (nodeId: string): Promise<any> => server.send('GET', `/v1/nodes/${nodeId}`);
  const listed = async (): Promise<string[]> =>
    (await server.send<any>('GET', '/v1/nodes?all=true')).body.items.map((one: any) => one.node_id);
  const events = (): Promise<object[]> =>
    server.database.sql('SELECT kind, data FROM events WHERE run_id IS NULL ORDER BY id');
  const expire = (nodeId: string): Promise<unknown> =>
    server.database.sql('UPDATE nodes SET expires_at = clock_timestamp() WHERE node_id = $1', [nodeId]);

  /** A live node of its own role. */
  async function live(role: string): Promise<PlayedNode> {
    const played = server.node(role, [{ role }]);
    played.instance = 'I1';
    await played.advertise();
    return played;
  }

  it('G8 new runs wait, BUSY while the run on it goes on and DRAINING after, the detail names the reason, and that run goes on', async () => {
    const played = await live('a');
    expect((await submit(server, R('a', { run_id: 'a-1' }))).status).toBe(201);
    const held = await hold('a', 'the fan is loud');
    expect(held).toMatchObject({ status: 200, body: { node_id: 'a', live: true, lease: { run_id: 'a-1' } } });
    expect(held.body.held).toEqual({ reason: 'the fan is loud', by: 'olga', since: expect.any(String) });

    const { status, body } = await submit(server, R('a', { run_id: 'a-2' }));
    expect([status, body.waiting.reason]).toEqual([202, 'BUSY']);
    expect(body.waiting.detail).toMatch(/held by olga: "the fan is loud"/);
    expect((await played.work()).body).toMatchObject({ run_id: 'a-1', run_state: 'SUCCEEDED' });

    const { waiting } = await show(server, 'a-2');
    expect(waiting).toMatchObject({ reason: 'DRAINING', roles: [{ live: 1, free: 0, busy: 0, draining: 0, held: 1 }] });
    expect(waiting.detail).toMatch(/if a were not held\. a is held by olga: "the fan is loud"\.$/);
    expect((await played.claim()).status).toBe(204);
  });

  it('G8 it is still held after a restart of the node and of the server; lifted, the waiting run is RUNNING right after', async () => {
    const played = await live('b');
    await hold('b', 'first');
    expect((await hold('b', 'its antenna is off', 'oma')).body.held.by).toBe('oma');
    expect((await submit(server, R('b', { run_id: 'b-1' }))).status).toBe(202);
    const counted = await countWakes(server);
    played.instance = 'I2';
    const { body } = await played.advertise({
      capabilities: [{ capability: 'board', attrs: { role: 'b', more: 'x' } }],
    });
    expect(body).toMatchObject({ held: { reason: 'its antenna is off', by: 'oma' }, leases: [] });
    expect((await counted()).wakes).toEqual({});
    await server.restart();
    expect((await node('b')).body.held).toMatchObject({ reason: 'its antenna is off' });
    expect((await show(server, 'b-1')).state).toBe('QUEUED');

    const lifted = await lift('b');

    expect(lifted).toMatchObject({ status: 200, body: { node_id: 'b', held: null, lease: { run_id: 'b-1' } } });
    expect(await promotion(server, 'b-1')).toEqual({ state: 'RUNNING', whys: ['hold-lift'], holds: ['b'] });
    const again = await countWakes(server);
    expect(await lift('b')).toMatchObject({ status: 200, body: { held: null } });
    expect((await again()).wakes).toEqual({});
    await cancel(server, 'b-1');
  });

  it('G8 a hold on a node that is not live is kept, and lifting it wakes nobody', async () => {
    await live('c');
    await expire('c');
    expect((await hold('c', 'is being repaired')).body).toMatchObject({ live: false, held: { by: 'olga' } });
    const counted = await countWakes(server);
    expect((await lift('c')).body).toMatchObject({ live: false, held: null });
    expect((await counted()).wakes).toEqual({});
  });

  it('G8 a hold that comes between the look and the grant: the run waits', async () => {
    await live('i');
    once('create.before-grant', () => hold('i', 'just now'));
    const { status, body } = await submit(server, R('i', { run_id: 'i-1' }));
    expect([status, body.waiting.reason]).toEqual([202, 'DRAINING']);
    await lift('i');
    expect((await promotion(server, 'i-1')).state).toBe('RUNNING');
  });

  it('G8 a lease that a server of the version before inserts for a held node is not there: it collides', async () => {
    await live('d');
    await hold('d', 'broken');
    await submit(server, R('d', { run_id: 'd-1' }));
    const inserted = await server.database.sql(
      "INSERT INTO leases (node_id, run_id, not_after) VALUES ('d', 'd-1', clock_timestamp()) RETURNING node_id",
    );
    expect(inserted).toEqual([]);
    await lift('d');
    expect((await promotion(server, 'd-1')).state).toBe('RUNNING');
  });

  it('what is done to a node is an event of no run, with who has done it', async () => {
    const before = await events();
    await live('e');
    await hold('e', 'loud');
    await lift('e');
    await lift('e');
    await expire('e');
    await forget('e');
    expect((await events()).slice(before.length)).toEqual([
      { kind: 'node_held', data: { node_id: 'e', by: 'olga', reason: 'loud' } },
      { kind: 'node_lifted', data: { node_id: 'e', by: 'otto' } },
      { kind: 'node_forgotten', data: { node_id: 'e', by: 'otto' } },
    ]);
  });

  it('G10 forgetting is 409 while it is live or leased; then it is in no list, its runs stay, and an advert brings it back', async () => {
    const played = await live('f');
    await submit(server, R('f', { run_id: 'f-1' }));
    expectProblem(await forget('f'), 409, 'node_in_use', '/v1/nodes/f');
    await expire('f');
    expectProblem(await forget('f'), 409, 'node_in_use');
    await cancel(server, 'f-1');
    await hold('f', 'burnt');
    expect((await forget('f')).status).toBe(204);

    expect(await listed()).not.toContain('f');
    expectProblem(await node('f'), 404, 'not_found', '/v1/nodes/f');
    expectProblem(await hold('f', 'again'), 404, 'not_found', '/v1/nodes/f/hold');
    expectProblem(await forget('f'), 404, 'not_found');
    expectProblem(await played.claim(), 404, 'not_found', '/v1/nodes/f/claim');
    expect((await show(server, 'f-1')).assigned).toMatchObject([{ nodes: [{ node_id: 'f' }] }]);
    expect(await server.database.sql("SELECT node_id FROM grants WHERE run_id = 'f-1'")).toEqual([{ node_id: 'f' }]);

    played.instance = 'I0';
    expect((await played.advertise()).body).toMatchObject({ held: { reason: 'burnt' } });
    expect((await node('f')).body).toMatchObject({ node_id: 'f', live: true, held: { reason: 'burnt' } });
    played.instance = 'I1';
    expect((await played.advertise()).status).toBe(200);
  });

  it('G10 the hold of a node that was forgotten can still be lifted', async () => {
    await live('g');
    await hold('g', 'lost');
    await expire('g');
    await forget('g');
    expect(await lift('g')).toMatchObject({ status: 200, body: { node_id: 'g', held: null } });
    expectProblem(await node('g'), 404, 'not_found');
  });

  it('GET /v1/nodes/{node_id} shows what the list shows, also of a node that is not live', async () => {
    await live('h');
    const { items } = (await server.send<any>('GET', '/v1/nodes')).body;
    expect((await node('h')).body).toEqual(items.find((one: any) => one.node_id === 'h'));
    await expire('h');
    expect((await node('h')).body).toMatchObject({ node_id: 'h', live: false });
  });

  it.each(['PUT', 'DELETE'] as const)('%s of the hold of a node that was never seen: 404', async (method) => {
    const body = method === 'PUT' ? { body: { reason: 'x' } } : {};
    expectProblem(await server.send(method, '/v1/nodes/nobody/hold', body), 404, 'not_found', '/v1/nodes/nobody/hold');
    expectProblem(await forget('nobody'), 404, 'not_found', '/v1/nodes/nobody');
    expectProblem(await node('nobody'), 404, 'not_found', '/v1/nodes/nobody');
  });

  it.each([
    ['none', undefined],
    ['an empty one', ''],
    ['one of 501 characters', 'x'.repeat(501)],
    ['a number', 7],
  ])('a reason that is %s: 400 with the pointer, and nothing is stored', async (_what, reason) => {
    const stored = await everything(server.database);
    const answer = await hold('a', reason);
    expectProblem(answer, 400, 'invalid_request', '/v1/nodes/a/hold');
    expect(answer.body.errors).toEqual([{ pointer: '/reason', detail: 'must be a string of 1 to 500 characters' }]);
    expect(await everything(server.database)).toEqual(stored);
    expect((await hold('h', 'x'.repeat(500))).status).toBe(200);
    await lift('h');
  });
});

describe('who may hold, lift and forget', () => {
  const tokens = new TokensFile();
  const callers = {
    submitter: bearer(tokens.add({ name: 'ann', role: 'submitter' })),
    node: bearer(tokens.add({ name: 'rpi-7', role: 'node', node_id: 'rpi-7' })),
    operator: bearer(tokens.add({ name: 'olga', role: 'operator' })),
  };
  const server = serverSuite({ tokens });
  const ask = (who: keyof typeof callers): Promise<number>[] =>
    [
      ['PUT', '/hold', { body: { reason: 'x' } }] as const,
      ['DELETE', '/hold', {}] as const,
      ['DELETE', '', {}] as const,
    ].map(async ([method, path, body]) => {
      const { status } = await server.send(method, `/v1/nodes/rpi-7${path}`, { ...body, headers: callers[who] });
      return status;
    });

  it('G8 a submitter or a node may not: 403; an operator may', async () => {
    expect(await Promise.all(ask('submitter'))).toEqual([403, 403, 403]);
    expect(await Promise.all(ask('node'))).toEqual([403, 403, 403]);
    expect(await Promise.all(ask('operator'))).toEqual([404, 404, 404]);
  });
});

import { nameOf } from '../../support/raw-statement.js';
import { readWholeFleet } from '../../../src/fleet/fleet-changes.sql.js';
import { describe, expect, it, jest } from '@jest/globals';
import { Database } from '../../../src/platform/database/database.js';
import { atFailpoints } from '../../../src/platform/failpoints.js';
import { R } from '../../support/contracts.js';
import { everything } from '../../support/stored.js';
import { serverSuite } from '../../support/server-suite.js';

describe('adverts and what is shown of the fleet', () => {
  const server = serverSuite();
  const post = (path: string, body?: unknown): Promise<any> => server.send('POST', `/v1/${path}`, { body });
  const get = async (path: string): Promise<any> => (await server.send('GET', `/v1/${path}`)).body;
  const left = async (runId: string): Promise<number> => {
    const [row] = await server.database.sql<{ seconds: number }>(
      'SELECT extract(epoch FROM not_after - clock_timestamp())::float8 AS seconds FROM leases WHERE run_id = $1',
      [runId],
    );
    return row!.seconds;
  };

  it('GET /v1/nodes shows the live ones by id with who holds them; ?all=true those too whose advert has expired', async () => {
    await server.node('b2', [{ role: 'b2' }]).advertise({ label: 'bench two', drain: 'graceful' });
    await server.node('a1', [{ role: 'a1' }]).advertise();
    await server.node('c3', []).advertise();
    await post('runs', R('a1', { run_id: 'shown' }));
    await server.database.sql("UPDATE nodes SET expires_at = clock_timestamp() WHERE node_id = 'c3'");

    const { items, observed_at } = await get('nodes');

    expect(items.map((node: any) => node.node_id)).toEqual(['a1', 'b2']);
    const [lease] = await server.database.sql<any>("SELECT * FROM leases WHERE node_id = 'a1'");
    expect(items[0]).toEqual({
      node_id: 'a1',
      label: 'a1',
      capabilities: [{ capability: 'board', attrs: { role: 'a1' } }],
      drain: '',
      held: null,
      live: true,
      seen_at: expect.stringMatching(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/),
      expires_at: expect.any(String),
      lease: {
        run_id: 'shown',
        principal: 'anonymous',
        since: lease.granted_at.toISOString(),
        not_after: lease.not_after.toISOString(),
      },
    });
    expect(items[1]).toMatchObject({ label: 'bench two', drain: 'graceful', lease: null });
    expect(Date.parse(items[0].expires_at) - Date.parse(items[0].seen_at)).toBe(3 * 3600 * 1000);
    expect(Date.parse(observed_at)).toBeGreaterThanOrEqual(Date.parse(items[0].seen_at));

    const all = (await get('nodes?all=true')).items;
    expect(all.map((node: any) => [node.node_id, node.live])).toEqual([
      ['a1', true],
      ['b2', true],
      ['c3', false],
    ]);
    expect((await get('nodes?all=false')).items).toHaveLength(2);
    expect((await server.send('GET', '/v1/nodes?all=maybe')).status).toBe(400);
    await post('runs/shown/cancel');
  });

  it('GET /v1/capabilities sums up what live nodes offer, busy and draining ones too', async () => {
    const entries = (...attrs: object[]): object[] => attrs.map((one) => ({ capability: 'rig', attrs: one }));
    await server.node('k1').advertise({ capabilities: entries({ soc: 'b', os: 'linux' }, { soc: 'a' }) });
    await server
      .node('k2')
      .advertise({ drain: 'graceful', capabilities: [...entries({ soc: 'b' }), { capability: 'plain' }] });
    await server.node('k3').advertise({ capabilities: entries({ soc: 'gone' }) });
    await server.database.sql("UPDATE nodes SET expires_at = clock_timestamp() WHERE node_id = 'k3'");
    await post('runs', {
      requires: [{ as: 'k', capability: 'rig', attrs: { node_id: 'k1' } }],
      steps: [{ id: 'only', uses: 'k', run: ['true'] }],
      run_id: 'k',
    });

    const { items } = await get('capabilities');

    expect(items.filter((one: any) => one.capability !== 'board')).toEqual([
      { capability: 'plain', nodes: 1, attrs: {} },
      { capability: 'rig', nodes: 2, attrs: { os: ['linux'], soc: ['a', 'b'] } },
    ]);
    await post('runs/k/cancel');
  });

  it('GET /v1/capabilities reads what was changed since, not every advert', async () => {
    await get('capabilities');
    const spy = jest.spyOn(server.mediator.app.get(Database), 'ask');
    const again = await get('capabilities');
    const names = spy.mock.calls.map(([statement]) => nameOf(statement));
    spy.mockRestore();
    expect(names).toEqual(['fleet.read-changes']);
    await server.node('later', [{ role: 'later' }]).advertise();
    const { items } = await get('capabilities');
    expect(items).not.toEqual(again.items);
    expect(JSON.stringify(items)).toContain('"later"');
  });

  it('an advert replaces the one before, and its answer says when to speak again', async () => {
    const node = server.node('d4', [{ role: 'd4' }]);
    const { status, body } = await node.advertise({ label: 'four', instance: 'boot-0' });
    expect([status, body]).toEqual([
      200,
      { node_id: 'd4', renew_seconds: 3600, drain: '', held: null, expires_at: expect.any(String), leases: [] },
    ]);
    await node.advertise({ capabilities: [] });
    expect((await get('nodes')).items.find((one: any) => one.node_id === 'd4')).toMatchObject({
      label: 'd4',
      capabilities: [],
      expires_at: expect.any(String),
    });
    expect((await post('runs', R('d4'))).status).toBe(422);
  });

  it('fields that are null count as absent', async () => {
    await server.node('d4', [{ role: 'd4' }]).advertise({ label: 'four', instance: 'boot-1' });
    const capabilities = [{ capability: 'board', attrs: null }];
    const answer = await server.node('d4').advertise({ label: null, instance: null, drain: null, capabilities });
    expect([answer.status, answer.body.drain]).toEqual([200, '']);
    expect(answer.body.warnings).toEqual([expect.stringMatching(/names no instance/)]);
    const shown = (await get('nodes')).items.find((one: any) => one.node_id === 'd4');
    expect(shown).toMatchObject({ label: 'd4', capabilities: [{ capability: 'board' }] });
    const one = { requires: [{ as: 'd', capability: 'board', attrs: { node_id: 'd4' } }], run_id: 'd4' };
    expect((await post('runs', { ...one, steps: [{ id: 'only', uses: 'd', run: ['true'] }] })).status).toBe(201);
    expect((await get('capabilities')).items.length).toBeGreaterThan(0);
    expect((await post('runs/d4/cancel', { reason: null })).body.verdict.detail).toBe('cancelled by anonymous');
  });

  it.each([
    ['no node_id', { node_id: undefined }, '/node_id'],
    ['a node_id that is none', { node_id: '-a' }, '/node_id'],
    ['no capabilities', { capabilities: undefined }, '/capabilities'],
    ['65 capabilities', { capabilities: Array.from({ length: 65 }, () => ({ capability: 'x' })) }, '/capabilities'],
    ['a list among the capabilities', { capabilities: [[]] }, '/capabilities'],
    ['a capability of another form', { capabilities: [{ capability: 'A b' }] }, '/capabilities/0/capability'],
    [
      'the attribute node_id',
      { capabilities: [{ capability: 'x', attrs: { node_id: 'e5' } }] },
      '/capabilities/0/attrs',
    ],
    ['an attribute that is no text', { capabilities: [{ capability: 'x', attrs: { n: 1 } }] }, '/capabilities/0/attrs'],
    ['a label too long', { label: 'x'.repeat(201) }, '/label'],
    ['an instance with a line break', { instance: 'a\nb' }, '/instance'],
  ])('%s: 400 with the pointer, and nothing is stored', async (_what, more, pointer) => {
    const stored = await everything(server.database);
    const answer = await post('nodes', { node_id: 'e5', capabilities: [], ...more });
    expect([answer.status, answer.body.code]).toEqual([400, 'invalid_request']);
    expect(answer.body.errors.map((fault: any) => fault.pointer)).toEqual([pointer]);
    expect(await everything(server.database)).toEqual(stored);
  });

  it('a node whose advert expired long ago is not kept in mind, and is one like any other when it comes back', async () => {
    const database = server.mediator.app.get(Database);
    const known = async (): Promise<string[]> =>
      (await database.ask(readWholeFleet(3600))).nodes.map(({ node_id }) => node_id);
    const node = server.node('gone', [{ role: 'gone' }]);
    await node.advertise();
    expect(await known()).toContain('gone');
    const expire = (ago: string): Promise<unknown> =>
      server.database.sql("UPDATE nodes SET expires_at = clock_timestamp() - $1::interval WHERE node_id = 'gone'", [
        ago,
      ]);
    await expire('1 minute');
    expect(await known()).toContain('gone');
    await expire('2 hours');
    expect((await post('runs', R('gone'))).status).toBe(422);
    expect(await known()).not.toContain('gone');
    await node.advertise();
    expect((await post('runs', R('gone'))).status).toBe(201);
  });

  it('unknown keys of a newer node are ignored', async () => {
    const entry = { capability: 'board', attrs: { role: 'f6' }, speed: 9 };
    expect((await server.node('f6').advertise({ capabilities: [entry], mood: 'good' })).status).toBe(200);
    const shown = (await get('nodes')).items.find((one: any) => one.node_id === 'f6');
    expect(shown.capabilities).toEqual([{ capability: 'board', attrs: { role: 'f6' } }]);
  });

  it('E5 a heartbeat moves not_after to renew × factor from now, also where that is earlier, and of its own node only', async () => {
    const nodes = ['g7', 'h8'].map((id) => server.node(id, [{ role: id }]));
    for (const node of nodes) await node.advertise();
    for (const { nodeId } of nodes) await post('runs', R(nodeId, { run_id: nodeId }));
    expect(await left('g7')).toBeGreaterThan(35_990);
    expect(await left('g7')).toBeLessThanOrEqual(36_000);

    const { leases } = (await nodes[0]!.advertise()).body;

    const [stored] = await server.database.sql<any>("SELECT not_after, nonce FROM leases WHERE run_id = 'g7'");
    expect(leases).toEqual([
      { run_id: 'g7', node_id: 'g7', nonce: stored.nonce, not_after: stored.not_after.toISOString() },
    ]);
    expect(await left('g7')).toBeGreaterThan(3 * 3600 - 10);
    expect(await left('g7')).toBeLessThanOrEqual(3 * 3600);
    expect(await left('h8')).toBeGreaterThan(35_000);
    await server.database.sql("UPDATE leases SET not_after = clock_timestamp() + interval '1 day' WHERE run_id = 'g7'");
    await nodes[0]!.advertise({ drain: 'graceful' });
    expect(await left('g7')).toBeLessThanOrEqual(3 * 3600);
  });

  it('E5 a heartbeat never renews the lease of a run that is over; the reaper deletes it and wakes who waits', async () => {
    const node = server.node('i9', [{ role: 'i9' }]);
    await node.advertise();
    await post('runs', R('i9', { run_id: 'over' }));
    await node.work();
    await server.database.sql(
      "INSERT INTO leases (node_id, run_id, not_after) VALUES ('i9', 'over', clock_timestamp() + interval '1 minute')",
    );
    expect((await post('runs', R('i9', { run_id: 'next' }))).status).toBe(202);

    await node.advertise();
    expect(await left('over')).toBeLessThanOrEqual(60);

    expect(await server.reap()).toMatchObject({ leftovers: 1, expired: 0, errors: 0 });
    expect((await node.work()).body).toMatchObject({ run_id: 'next', run_state: 'SUCCEEDED' });
  });

  it('a heartbeat that changes nothing sends two statements between BEGIN and COMMIT, and one more for the lease', async () => {
    const nodes = ['j10', 'k11'].map((id) => server.node(id, [{ role: id }]));
    for (const node of nodes) await node.advertise();
    await post('runs', R('k11', { run_id: 'held' }));
    const sent: string[] = [];
    atFailpoints((name) => {
      if (name.startsWith('advert:')) sent.push(name);
    });

    await nodes[0]!.advertise();
    expect(sent.splice(0)).toEqual(['advert:nodes.lock-advert', 'advert:nodes.store-advert']);
    await nodes[1]!.advertise();
    expect(sent).toEqual(['advert:nodes.lock-advert', 'advert:nodes.store-advert', 'advert:leases.renew']);
  });
});

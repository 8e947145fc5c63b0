import { describe, expect, it } from '@jest/globals';
import { needs, R, step } from '../../support/contracts.js';
import { serverSuite } from '../../support/server-suite.js';
import { rowsOf } from '../../support/stored.js';

describe('POST /v1/runs, 201', () => {
  const server = serverSuite();
  const submit = (body: unknown, headers: Record<string, string> = {}) =>
    server.send('POST', '/v1/runs', { body, headers });
  const leasesOf = (runId: string) =>
    server.database.sql('SELECT node_id, roles FROM leases WHERE run_id = $1 ORDER BY node_id', [runId]);

  it('A1 a run whose node is free is RUNNING, holds one lease, and its step is bound', async () => {
    await server.node('A1-N1', [{ role: 'a1' }]).advertise({ label: 'Bench 1' });

    const { status, headers, body } = await submit(R('a1', { run_id: 'a1-a' }));

    expect(status).toBe(201);
    expect(headers.get('location')).toBe('/v1/runs/a1-a');
    expect(headers.get('etag')).toBe(`"${body.version}"`);
    expect(headers.has('retry-after')).toBe(false);
    expect(body).toMatchObject({
      run_id: 'a1-a',
      state: 'RUNNING',
      principal: 'anonymous',
      work_id: null,
      requires: [needs('a1')],
      assigned: [{ as: 'a1', nodes: [{ node_id: 'A1-N1', label: 'Bench 1' }] }],
      steps: [
        {
          seq: 1,
          id: 'only',
          kind: 'run',
          uses: 'a1',
          state: 'PENDING',
          node_id: 'A1-N1',
          needs: [],
          attempt: 1,
          started_at: null,
          ended_at: null,
        },
      ],
      record: { state: 'OPEN', digest: null },
      created_at: expect.stringMatching(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/),
      started_at: body.created_at,
      ended_at: null,
    });
    for (const absent of ['waiting', 'verdict', 'warnings', 'work']) expect(body).not.toHaveProperty(absent);

    const shown = await server.send('GET', headers.get('location')!);
    expect(shown.body).toEqual(body);
    expect(shown.headers.get('etag')).toBe(headers.get('etag'));
    expect(await rowsOf(server.database, 'a1-a')).toEqual({
      runs: 1,
      steps: 1,
      leases: 1,
      grants: 1,
      records: 1,
      events: 1,
    });
    expect(await leasesOf('a1-a')).toEqual([{ node_id: 'A1-N1', roles: ['a1'] }]);
    const [lease] = await server.database.sql<{ seconds: number }>(
      "SELECT extract(epoch FROM not_after - granted_at)::float8 AS seconds FROM leases WHERE run_id = 'a1-a'",
    );
    expect(lease!.seconds).toBeCloseTo(36_000, 0);
    expect(await server.database.sql("SELECT kind, data FROM events WHERE run_id = 'a1-a'")).toEqual([
      { kind: 'granted', data: { nodes: ['A1-N1'] } },
    ]);
  });

  it('A1 the node of the run is handed the step right after', async () => {
    const node = server.node('A1b-N1', [{ role: 'a1b' }]);
    await node.advertise();
    await submit(R('a1b', { run_id: 'a1b-a' }));
    expect(await node.claim()).toMatchObject({ status: 200, body: { run_id: 'a1b-a', seq: 1, run: ['true'] } });
  });

  it('leases every node of a role that counts two, and binds its steps to the first', async () => {
    for (const id of ['P3', 'P1', 'P2']) await server.node(id, [{ role: 'pair' }]).advertise();
    const { status, body } = await submit({
      run_id: 'pair-a',
      requires: [needs('pair', { count: 2 })],
      steps: [step('one', 'pair'), step('two', 'pair')],
    });
    expect(status).toBe(201);
    expect(body.assigned[0].nodes.map((node: { node_id: string }) => node.node_id)).toEqual(['P1', 'P2']);
    expect(body.steps.map((one: { node_id: string }) => one.node_id)).toEqual(['P1', 'P1']);
    expect(await leasesOf('pair-a')).toEqual([
      { node_id: 'P1', roles: ['pair'] },
      { node_id: 'P2', roles: ['pair'] },
    ]);
  });

  it('serves two roles with one lease of one node, unless the contract spreads them', async () => {
    for (const id of ['S1', 'S2']) await server.node(id, [{ role: 'left' }, { role: 'right' }]).advertise();
    const contract = { requires: [needs('left'), needs('right')], steps: [step('l', 'left'), step('r', 'right')] };

    const together = await submit({ ...contract, run_id: 'one-node' });
    expect(together.status).toBe(201);
    expect(await leasesOf('one-node')).toEqual([{ node_id: 'S1', roles: ['left', 'right'] }]);
    await server.send('POST', '/v1/runs/one-node/cancel');

    const apart = await submit({ ...contract, run_id: 'two-nodes', spread: true });
    expect(apart.status).toBe(201);
    expect(await leasesOf('two-nodes')).toEqual([
      { node_id: 'S1', roles: ['left'] },
      { node_id: 'S2', roles: ['right'] },
    ]);
    expect(apart.body.steps).toMatchObject([{ node_id: 'S1' }, { node_id: 'S2' }]);
  });

  it('takes the least special node, and one node by its name where the contract asks for it', async () => {
    await server.node('K1', [{ role: 'k', extra: 'camera' }]).advertise();
    await server.node('K2', [{ role: 'k' }]).advertise();
    expect((await submit(R('k', { run_id: 'k-any' }))).body.steps[0].node_id).toBe('K2');
    const named = { requires: [needs('k', { attrs: { role: 'k', node_id: 'K1' } })], steps: [step('only', 'k')] };
    expect((await submit({ ...named, run_id: 'k-named' })).body.steps[0].node_id).toBe('K1');
  });

  it('gives the work id, keeps the work, and stores the contract as it was sent', async () => {
    await server.node('W1', [{ role: 'w' }]).advertise();
    const work = { zeta: [1, { b: null, a: 'ü' }], system: 'gerrit', change_id: '4711' };
    const contract = { work, run_id: 'w-a', ...R('w') };
    const { body } = await submit(contract, { 'mediator-principal': 'alice@lab' });
    expect(body).toMatchObject({ principal: 'alice@lab', work_id: 'gerrit:4711', work });
    const [row] = await server.database.sql("SELECT contract::text AS text FROM runs WHERE run_id = 'w-a'");
    expect(row).toEqual({ text: JSON.stringify(contract) });
  });

  it('takes names that mean something to JavaScript for what they are', async () => {
    await server.node('J1', [{ prototype: 'y' }]).advertise();
    const role = { as: '__proto__', capability: 'board', attrs: { prototype: 'y' } };
    const contract = {
      run_id: 'js',
      requires: [role],
      steps: [step('constructor', '__proto__'), step('toString', '__proto__')],
    };
    const { status, body } = await submit(contract);
    expect(status).toBe(201);
    expect(body.assigned).toEqual([{ as: '__proto__', nodes: [{ node_id: 'J1', label: 'J1' }] }]);
    expect(body.steps).toMatchObject([
      { id: 'constructor', needs: [], node_id: 'J1' },
      { id: 'toString', needs: ['constructor'], node_id: 'J1' },
    ]);
  });
});

const QUEUED = { runs: 1, steps: 1, records: 1, events: 1 };

describe('POST /v1/runs, 202', () => {
  const server = serverSuite();
  const submit = (body: unknown) => server.send('POST', '/v1/runs', { body });

  it('A2 a run whose node is taken is QUEUED and holds nothing', async () => {
    await server.node('A2-N1', [{ role: 'a2' }]).advertise();
    await submit(R('a2', { run_id: 'a2-a' }));
    const work = { system: 'gerrit', change_id: '17' };

    const { status, headers, body } = await submit(R('a2', { run_id: 'a2-b', work }));

    expect(status).toBe(202);
    expect(headers.get('location')).toBe('/v1/runs/a2-b');
    expect(headers.get('retry-after')).toBe('3600');
    expect(headers.get('etag')).toBe(`"${body.version}"`);
    expect(body).toMatchObject({
      run_id: 'a2-b',
      state: 'QUEUED',
      work_id: 'gerrit:17',
      assigned: [],
      steps: [
        {
          seq: 1,
          id: 'only',
          state: 'PENDING',
          node_id: null,
          needs: [],
          attempt: 1,
          started_at: null,
          ended_at: null,
        },
      ],
      record: { state: 'OPEN', digest: null },
      started_at: null,
      ended_at: null,
    });
    expect(body).not.toHaveProperty('verdict');

    const [lease] = await server.database.sql<{ granted_at: Date; not_after: Date }>(
      "SELECT granted_at, not_after FROM leases WHERE node_id = 'A2-N1'",
    );
    const holder = {
      node_id: 'A2-N1',
      run_id: 'a2-a',
      principal: 'anonymous',
      since: lease!.granted_at.toISOString(),
      not_after: lease!.not_after.toISOString(),
    };
    expect(body.waiting).toEqual({
      since: body.created_at,
      reason: 'BUSY',
      detail: expect.stringContaining('a2-a'),
      position: 1,
      ahead: 0,
      roles: [{ as: 'a2', count: 1, live: 1, free: 0, busy: 1, draining: 0, held: 0, silent: 0, holders: [holder] }],
    });
    expect((await server.send('GET', '/v1/runs/a2-b')).body).toEqual(body);

    expect(await rowsOf(server.database, 'a2-b')).toEqual(QUEUED);
    const [row] = await server.database.sql(
      `SELECT r.state, r.assigned IS NULL AS unassigned, r.work_id, r.wait_reason, r.wait_holders, s.state AS step, s.node_id,
              c.closed_at, c.digest
         FROM runs r JOIN steps s USING (run_id) JOIN records c USING (run_id) WHERE run_id = 'a2-b'`,
    );
    expect(row).toEqual({
      state: 'QUEUED',
      unassigned: true,
      work_id: 'gerrit:17',
      wait_reason: 'BUSY',
      wait_holders: [holder],
      step: 'PENDING',
      node_id: '',
      closed_at: null,
      digest: null,
    });
    expect(await server.database.sql("SELECT kind, data FROM events WHERE run_id = 'a2-b'")).toEqual([
      { kind: 'queued', data: { reason: 'BUSY' } },
    ]);
    expect(await server.send('GET', '/v1/runs/a2-b/record')).toMatchObject({
      status: 409,
      body: { code: 'not_sealed' },
    });
  });

  it('A2 the queue shows it with the place it has', async () => {
    await server.node('Q1', [{ role: 'q' }]).advertise();
    for (const id of ['q-a', 'q-b', 'q-c']) await submit(R('q', { run_id: id }));
    const { items } = (await server.send('GET', '/v1/queue')).body;
    expect(items.map((item: { run_id: string }) => item.run_id)).toEqual(['a2-b', 'q-b', 'q-c']);
    // Position counts everybody who came before, `ahead` those that wait for the same nodes.
    expect((await server.send('GET', '/v1/runs/q-c')).body.waiting).toMatchObject({ position: 3, ahead: 1 });
  });

  it('A2 nothing of two nodes is taken while only one of them is free', async () => {
    await server.node('T1', [{ role: 't-busy' }]).advertise();
    await server.node('T2', [{ role: 't-free' }]).advertise();
    await submit(R('t-busy', { run_id: 't-a' }));
    const both = { requires: [needs('t-free'), needs('t-busy')], steps: [step('f', 't-free'), step('b', 't-busy')] };

    expect((await submit({ ...both, run_id: 't-b' })).status).toBe(202);

    expect(await rowsOf(server.database, 't-b')).toEqual({ ...QUEUED, steps: 2 });
    expect((await server.send('GET', '/v1/runs/t-b')).body.waiting.roles).toMatchObject([
      { as: 't-free', live: 1, free: 1, busy: 0, holders: [] },
      { as: 't-busy', live: 1, free: 0, busy: 1, holders: [{ node_id: 'T1', run_id: 't-a' }] },
    ]);
    expect((await submit(R('t-free', { run_id: 't-c' }))).status).toBe(201);
  });

  it('the needs of a run that waits are those of one that starts at once', async () => {
    await server.node('D1', [{ role: 'd' }]).advertise();
    const steps = [
      step('first', 'd'),
      step('after', 'd'),
      step('at-once', 'd', { needs: [] }),
      step('join', 'd', { needs: ['after', 'at-once'] }),
    ];
    const [created, queued] = [
      await submit(R('d', { run_id: 'd-a', steps })),
      await submit(R('d', { run_id: 'd-b', steps })),
    ];
    expect([created.status, queued.status]).toEqual([201, 202]);
    expect(created.body.steps.map((one: { needs: string[] }) => one.needs)).toEqual([
      [],
      ['first'],
      [],
      ['after', 'at-once'],
    ]);
    expect(queued.body.steps).toEqual(created.body.steps.map((one: object) => ({ ...one, node_id: null })));
  });

  it.each(['graceful', 'at-boundary'])('A12 a node that drains %s is waited for: 202 DRAINING', async (drain) => {
    const role = `a12-${drain}`;
    const node = server.node(`N-${drain}`, [{ role }]);
    await node.advertise({ drain });

    const { status, body } = await submit(R(role, { run_id: `run-${drain}` }));

    expect(status).toBe(202);
    expect(body.waiting).toMatchObject({
      reason: 'DRAINING',
      detail: expect.stringContaining(`N-${drain}`),
      roles: [{ as: role, live: 1, free: 0, busy: 0, draining: 1, held: 0, silent: 0, holders: [] }],
    });
    expect(await rowsOf(server.database, `run-${drain}`)).toEqual(QUEUED);
    expect(await server.database.sql('SELECT wait_reason FROM runs WHERE run_id = $1', [`run-${drain}`])).toEqual([
      { wait_reason: 'DRAINING' },
    ]);
    expect((await node.claim()).status).toBe(204);
  });

  it('A12 where one node is taken and the other drains, it is the drain that is in the way', async () => {
    await server.node('M1', [{ role: 'm' }]).advertise();
    await submit(R('m', { run_id: 'm-a' }));
    await server.node('M2', [{ role: 'm' }]).advertise({ drain: 'graceful' });
    const { status, body } = await submit(R('m', { run_id: 'm-b' }));
    expect(status).toBe(202);
    expect(body.waiting).toMatchObject({ reason: 'DRAINING', roles: [{ live: 2, free: 0, busy: 1, draining: 1 }] });
  });
});

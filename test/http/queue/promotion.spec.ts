import { beforeAll, describe, expect, it } from '@jest/globals';
import { atFailpoints } from '../../../src/platform/failpoints.js';
import { needs, R, step } from '../../support/contracts.js';
import { cancel, countWakes, promotion, show, states, submit, submitAll } from '../../support/queue.js';
import { serverSuite } from '../../support/server-suite.js';

describe('promotion', () => {
  const server = serverSuite();
  it('B1 the last result of the run that holds the node promotes the oldest that waits for it', async () => {
    const n1 = server.node('B1-N1', [{ role: 'b1' }]);
    await n1.advertise();
    const runs = ['b1-a', 'b1-b', 'b1-c'].map((run_id) => R('b1', { run_id }));
    expect(await submitAll(server, ...runs)).toEqual([201, 202, 202]);
    const counted = await countWakes(server);

    expect((await n1.work()).body).toMatchObject({ run_id: 'b1-a', step_state: 'DONE', run_state: 'SUCCEEDED' });

    expect(await states(server, 'b1-a', 'b1-b', 'b1-c')).toEqual(['SUCCEEDED', 'RUNNING', 'QUEUED']);
    expect((await n1.claim()).body).toMatchObject({ run_id: 'b1-b', seq: 1, lease: { node_id: 'B1-N1' } });
    expect(await promotion(server, 'b1-b')).toEqual({ state: 'RUNNING', whys: ['result'], holds: ['B1-N1'] });
    expect(await counted()).toEqual({ wakes: { result: 1 }, sweeps: { clean: 1 } });
  });

  it('B2 a run that cannot go never blocks a later one that can', async () => {
    await server.node('B2-N1', [{ role: 'b2x' }]).advertise();
    await server.node('B2-N2', [{ role: 'b2y' }]).advertise();
    const runs = [
      R('b2x', { run_id: 'b2-a' }),
      R('b2y', { run_id: 'b2-x' }),
      R('b2x', { run_id: 'b2-b' }),
      R('b2y', { run_id: 'b2-c' }),
    ];
    expect(await submitAll(server, ...runs)).toEqual([201, 201, 202, 202]);

    expect(await cancel(server, 'b2-x')).toMatchObject({ status: 200, body: { state: 'CANCELLED' } });

    expect(await show(server, 'b2-c')).toMatchObject({
      state: 'RUNNING',
      assigned: [{ as: 'b2y', nodes: [{ node_id: 'B2-N2' }] }],
      steps: [{ state: 'PENDING', node_id: 'B2-N2' }],
    });
    expect(await promotion(server, 'b2-b')).toEqual({ state: 'QUEUED', whys: null, holds: [] });
    expect((await show(server, 'b2-b')).waiting).toMatchObject({ reason: 'BUSY', ahead: 0 });
  });

  it('a run waits for all of its nodes and takes none of them before', async () => {
    await server.node('ALL-N1', [{ role: 'allx' }]).advertise();
    await server.node('ALL-N2', [{ role: 'ally' }]).advertise();
    const both = { requires: [needs('allx'), needs('ally')], steps: [step('one', 'allx'), step('two', 'ally')] };
    expect(await submitAll(server, R('allx', { run_id: 'all-a' }), R('ally', { run_id: 'all-b' }))).toEqual([201, 201]);
    expect((await submit(server, { ...both, run_id: 'all-c' })).status).toBe(202);

    await cancel(server, 'all-a');
    expect(await promotion(server, 'all-c')).toEqual({ state: 'QUEUED', whys: null, holds: [] });
    // A node that is free is taken by who needs no more than that.
    expect((await submit(server, R('allx', { run_id: 'all-d' }))).status).toBe(201);
    await cancel(server, 'all-b');
    expect(await promotion(server, 'all-c')).toEqual({ state: 'QUEUED', whys: null, holds: [] });
    await cancel(server, 'all-d');
    expect(await promotion(server, 'all-c')).toEqual({
      state: 'RUNNING',
      whys: ['cancel'],
      holds: ['ALL-N1', 'ALL-N2'],
    });
  });

  it('B18 a run whose candidates have expired waits OFFLINE, until a node joins', async () => {
    await server.node('B18-N1', [{ role: 'b18' }]).advertise();
    expect(await submitAll(server, R('b18', { run_id: 'b18-a' }), R('b18', { run_id: 'b18-b' }))).toEqual([201, 202]);
    await server.database.sql(
      "UPDATE nodes SET expires_at = clock_timestamp() - interval '1 s' WHERE node_id = 'B18-N1'",
    );
    // Another event sweeps: the run does not go, and is not ended either.
    expect((await cancel(server, 'b18-a')).status).toBe(200);
    expect(await show(server, 'b18-b')).toMatchObject({
      state: 'QUEUED',
      waiting: { reason: 'OFFLINE', roles: [{ as: 'b18', live: 0, free: 0, busy: 0, draining: 0 }] },
    });

    const joined = await server.node('B18-N2', [{ role: 'b18' }]).advertise();

    expect(joined.body.leases).toMatchObject([{ run_id: 'b18-b', node_id: 'B18-N2' }]);
    expect(await promotion(server, 'b18-b')).toEqual({ state: 'RUNNING', whys: ['node-joined'], holds: ['B18-N2'] });
  });

  it('B19 two runs that want one node in one sweep: the second is not even tried in a transaction', async () => {
    const n1 = server.node('B19-N1', [{ role: 'b19' }]);
    await n1.advertise();
    const runs = ['b19-a', 'b19-b', 'b19-c'].map((run_id) => R('b19', { run_id }));
    expect(await submitAll(server, ...runs)).toEqual([201, 202, 202]);
    const passed: string[] = [];
    atFailpoints((name) => void passed.push(name));

    expect((await n1.work()).status).toBe(200);

    expect(passed.filter((name) => name.startsWith('promote.'))).toEqual([
      'promote.before-grant',
      'promote.before-commit',
      'promote.committed',
    ]);
    expect(passed.filter((name) => name === 'sweep.read')).toHaveLength(1);
    expect(await states(server, 'b19-b', 'b19-c')).toEqual(['RUNNING', 'QUEUED']);
  });

  it('one sweep promotes everybody who fits, in arrival order, each onto nodes of its own', async () => {
    const role = 'many';
    for (const id of ['1', '2', '3']) await server.node(`MANY-N${id}`, [{ role }]).advertise();
    const three = { run_id: 'many-a', requires: [needs(role, { count: 3 })], steps: [step('only', role)] };
    const runs = ['many-b', 'many-c', 'many-d', 'many-e'].map((run_id) => R(role, { run_id }));
    expect(await submitAll(server, three, ...runs)).toEqual([201, 202, 202, 202, 202]);
    const counted = await countWakes(server);

    await cancel(server, 'many-a');

    expect((await promotion(server, 'many-b')).holds).toEqual(['MANY-N1']);
    expect((await promotion(server, 'many-c')).holds).toEqual(['MANY-N2']);
    expect((await promotion(server, 'many-d')).holds).toEqual(['MANY-N3']);
    expect(await promotion(server, 'many-e')).toEqual({ state: 'QUEUED', whys: null, holds: [] });
    expect(await counted()).toEqual({ wakes: { cancel: 1 }, sweeps: { clean: 1 } });
  });

  it('B25 a node that serves several waiting runs goes to the oldest', async () => {
    await server.node('B25-N1', [{ role: 'b25x' }]).advertise();
    await server.node('B25-N2', [{ role: 'b25y' }]).advertise();
    expect(await submitAll(server, R('b25x', { run_id: 'b25-1' }), R('b25y', { run_id: 'b25-2' }))).toEqual([201, 201]);
    const queue = [R('b25x', { run_id: 'b25-b' }), R('b25x', { run_id: 'b25-c' }), R('b25y', { run_id: 'b25-d' })];
    expect(await submitAll(server, ...queue)).toEqual([202, 202, 202]);
    const passed: string[] = [];
    atFailpoints((name) => void passed.push(name));

    await server.node('B25-N3', [{ role: 'b25x' }, { role: 'b25y' }]).advertise();

    expect(await promotion(server, 'b25-b')).toEqual({ state: 'RUNNING', whys: ['node-joined'], holds: ['B25-N3'] });
    expect(await promotion(server, 'b25-c')).toEqual({ state: 'QUEUED', whys: null, holds: [] });
    expect(await promotion(server, 'b25-d')).toEqual({ state: 'QUEUED', whys: null, holds: [] });
    expect(passed.filter((name) => name === 'promote.before-grant')).toHaveLength(1);
  });
});

describe('promotion under a cap on the width', () => {
  const server = serverSuite({ env: { MEDIATOR_MAX_LEASES_PER_RUN: '1' } });
  it('B14 a run stays queued while it would take too many nodes, and goes when one free node serves all its roles', async () => {
    await server.node('N1', [{ role: 'x' }]).advertise();
    await server.node('N2', [{ role: 'y' }]).advertise();
    await server.node('N3', [{ role: 'x' }, { role: 'y' }]).advertise();
    const onN3 = {
      run_id: 'three',
      requires: [needs('x', { attrs: { node_id: 'N3' } })],
      steps: [step('only', 'x')],
    };
    expect(await submitAll(server, R('x', { run_id: 'one' }), onN3)).toEqual([201, 201]);
    const wide = {
      run_id: 'wide',
      requires: [needs('x'), needs('y')],
      steps: [step('first', 'x'), step('second', 'y')],
    };
    expect(await submit(server, wide)).toMatchObject({ status: 202, body: { waiting: { reason: 'BUSY' } } });

    const counted = await countWakes(server);
    await cancel(server, 'one');
    expect(await show(server, 'wide')).toMatchObject({
      state: 'QUEUED',
      assigned: [],
      waiting: { reason: 'TOO_WIDE' },
    });
    expect(await promotion(server, 'wide')).toEqual({ state: 'QUEUED', whys: null, holds: [] });
    expect(await counted()).toEqual({ wakes: { cancel: 1 }, sweeps: { clean: 1 } });

    expect(await submitAll(server, R('x', { run_id: 'again' }), R('y', { run_id: 'two' }))).toEqual([201, 201]);
    await cancel(server, 'three');
    expect(await promotion(server, 'wide')).toEqual({ state: 'RUNNING', whys: ['cancel'], holds: ['N3'] });
    expect(await show(server, 'wide')).toMatchObject({
      assigned: [
        { as: 'x', nodes: [{ node_id: 'N3' }] },
        { as: 'y', nodes: [{ node_id: 'N3' }] },
      ],
      steps: [{ node_id: 'N3' }, { node_id: 'N3' }],
    });
    expect(await server.database.sql("SELECT roles FROM leases WHERE run_id = 'wide'")).toEqual([
      { roles: ['x', 'y'] },
    ]);
  });
});

/** What a run that waited has and another has not: its place and its story. Its version counts one change more. */
const STORY = [
  ...['seq', 'version', 'waiting', 'waited'],
  ...['queued_at', 'wait_reason', 'wait_holders', 'promoted_at', 'promoted_whys'],
];
const UNIQUE = /^(.*_at|at|not_after|nonce|grant_id|id_of_event|digest|sums)$/;

describe('a run that waited', () => {
  const server = serverSuite();
  const n1 = server.node('N1', [{ role: 'x', more: '1' }]);
  const n2 = server.node('N2', [{ role: 'y' }]);
  beforeAll(async () => {
    for (const node of [n1, n2]) {
      node.instance = 'I1';
      await node.advertise({ label: `the ${node.nodeId}` });
    }
    await server.node('N3', [{ role: 'y', more: '1' }]).advertise();
    await server.node('N4', [{ role: 'extra' }]).advertise();
  });
  const contract = {
    work: { system: 'gerrit', change_id: '4711' },
    requires: [needs('x'), needs('y', { count: 2 }), { as: 'z', capability: 'board', attrs: { node_id: 'N1' } }],
    steps: [
      step('one', 'x', { needs: [], env: ['HOME'] }),
      step('two', 'y', { allow_failure: true }),
      step('three', 'z', { needs: ['one', 'two'] }),
    ],
    success_when: [{ step: 'two', exit_code: 3 }],
  };

  const send = (runId: string, body: object = contract) =>
    server.send('POST', '/v1/runs', { body, headers: { 'idempotency-key': runId, 'mediator-principal': 'somebody' } });

  /** Every row and answer there is of the run, without what may differ. */
  async function portrait(runId: string): Promise<unknown> {
    const [rows] = await server.database.sql(
      `SELECT (SELECT row_to_json(r) FROM runs r WHERE run_id = $1) AS run,
              (SELECT json_agg(s ORDER BY seq) FROM steps s WHERE run_id = $1) AS steps,
              (SELECT json_agg(a ORDER BY seq, attempt) FROM attempts a WHERE run_id = $1) AS attempts,
              (SELECT json_agg(l ORDER BY node_id) FROM leases l WHERE run_id = $1) AS leases,
              (SELECT json_agg(g ORDER BY node_id) FROM grants g WHERE run_id = $1) AS grants,
              (SELECT json_agg(q ORDER BY seq, attempt) FROM asks q WHERE run_id = $1) AS asks,
              (SELECT row_to_json(c) FROM records c WHERE run_id = $1) AS record,
              (SELECT json_agg(json_build_object('kind', kind, 'data', data) ORDER BY id) FROM events
                WHERE run_id = $1 AND kind NOT IN ('queued', 'promoted', 'granted')) AS events`,
      [runId],
    );
    const { body } = await server.send('GET', `/v1/runs/${runId}`);
    return plain({ rows, body }, runId);
  }

  function plain(value: unknown, runId: string): unknown {
    if (Array.isArray(value)) return value.map((one) => plain(one, runId));
    if (value === runId) return 'RUN';
    if (typeof value === 'string' && value.startsWith('{')) return plain(JSON.parse(value), runId);
    if (value === null || typeof value !== 'object') return value;
    const kept = Object.entries(value).filter(([key]) => !STORY.includes(key) || ('id' in value && key === 'seq'));
    return Object.fromEntries(
      kept.map(([key, one]) => [key, UNIQUE.test(key) && one !== null ? 'SET' : plain(one, runId)]),
    );
  }

  /** Works through the run; gives its portraits at every stage, and the claims. */
  async function live(runId: string): Promise<unknown[]> {
    const stages = [await portrait(runId)];
    for (const [node, result] of [
      [n1, undefined],
      [n2, { exit_code: 3 }],
      [n1, undefined],
    ] as const) {
      const { status, body: claim } = await node.claim();
      expect({ status, run_id: claim.run_id }).toEqual({ status: 200, run_id: runId });
      stages.push(plain(claim, runId), await portrait(runId));
      const { body } = await node.report(claim, result);
      stages.push(plain(body, runId), await portrait(runId));
    }
    return stages;
  }

  it('B20 differs from one that was created at once in nothing but ids, times and the story of its waiting', async () => {
    expect((await send('at-once')).status).toBe(201);
    const first = await live('at-once');

    const holder = { requires: [{ as: 'h', capability: 'board', attrs: { node_id: 'N3' } }], steps: [step('s', 'h')] };
    expect((await send('holder', holder)).status).toBe(201);
    const { status, body } = await send('promoted');
    expect({ status, steps: body.steps }).toMatchObject({ status: 202, steps: [{ node_id: null }, {}, {}] });
    await cancel(server, 'holder');
    const second = await live('promoted');

    expect(second).toEqual(first);
    expect(JSON.stringify(first.at(-1))).toContain('"state":"SUCCEEDED"');
    expect(JSON.stringify(first.at(-1))).toContain('manifest.json');
    const versions = await server.database.sql<{ version: string }>(
      "SELECT version FROM runs WHERE run_id IN ('at-once', 'promoted') ORDER BY run_id",
    );
    expect(Number(versions[1]!.version)).toBe(Number(versions[0]!.version) + 1);
    const [story] = await server.database.sql<{ files: Record<string, string> }>(
      "SELECT files FROM records WHERE run_id = 'promoted'",
    );
    expect(JSON.parse(story!.files['manifest.json']!).waiting).toMatchObject({
      reason: 'BUSY',
      holders: [{ node_id: 'N3', run_id: 'holder' }],
      promoted_by: ['cancel'],
      ended: 'PROMOTED',
    });
  });

  it('B20 with an acquire and a question first, which are taken and asked in the same order', async () => {
    const take = { want: needs('extra'), acquired: 'more', unavailable: 'without' };
    const own = {
      requires: [needs('x')],
      steps: [
        { id: 'take', acquire: take },
        step('more', 'extra'),
        step('without', 'x'),
        { id: 'look', needs: [], ask: { prompt: 'Well?' }, out: ['o'], schema: { o: { type: 'object' } } },
      ],
    };
    expect((await send('own-at-once', own)).status).toBe(201);
    const first = await portrait('own-at-once');
    expect(JSON.stringify(first)).toContain('"state":"ASKED"');
    expect(JSON.stringify(first)).toContain('"branch":"more"');
    await cancel(server, 'own-at-once');

    const holder = { requires: [{ as: 'h', capability: 'board', attrs: { node_id: 'N1' } }], steps: [step('s', 'h')] };
    expect((await send('own-holder', holder)).status).toBe(201);
    expect((await send('own-promoted', own)).status).toBe(202);
    await cancel(server, 'own-holder');

    expect(await portrait('own-promoted')).toEqual(first);
    await cancel(server, 'own-promoted');
  });
});

import { afterAll, afterEach, beforeAll, describe, expect, it } from '@jest/globals';
import { needs, step } from '../../support/contracts.js';
import { startTestMediator, type TestMediator } from '../../support/mediator.js';
import type { PlayedNode } from '../../support/played-node.js';
import { cancel } from '../../support/queue.js';

/** What a run that waited has and another has not: its place and its story. Its version counts one change more. */
const STORY = ['seq', 'queued_at', 'wait_reason', 'wait_holders', 'promoted_at', 'promoted_whys', 'waited', 'version'];
const UNIQUE = /^(.*_at|at|not_after|nonce|grant_id|id_of_event|digest|sums)$/;

describe('a run that waited', () => {
  let server: TestMediator;
  let n1: PlayedNode;
  let n2: PlayedNode;
  beforeAll(async () => {
    server = await startTestMediator();
    n1 = server.node('N1', [{ role: 'x', more: '1' }]);
    n2 = server.node('N2', [{ role: 'y' }]);
    for (const node of [n1, n2]) {
      node.instance = 'I1';
      await node.advertise({ label: `the ${node.nodeId}` });
    }
    await server.node('N3', [{ role: 'y', more: '1' }]).advertise();
    await server.node('N4', [{ role: 'extra' }]).advertise();
  });
  afterEach(async () => expect(await server.violations()).toEqual([]));
  afterAll(() => server.close());

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
    expect(JSON.parse(story!.files['manifest.json']!).waited).toMatchObject({
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

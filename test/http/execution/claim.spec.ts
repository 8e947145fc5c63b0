import { beforeAll, describe, expect, it } from '@jest/globals';
import type { AgentClaimFields, RunClaimFields } from '../../../src/domain/contract/claim-fields.js';
import { kindOf } from '../../../src/domain/contract/valid-steps.js';
import { needs, R, step } from '../../support/contracts.js';
import type { PlayedNode } from '../../support/played-node.js';
import { everything } from '../../support/stored.js';
import { serverSuite } from '../../support/server-suite.js';
import { upload } from '../../support/uploads.js';

describe('the claim of a step', () => {
  const server = serverSuite();
  let [n1, n2]: PlayedNode[] = [];
  beforeAll(async () => {
    [n1, n2] = [server.node('n1', [{ role: 'x' }]), server.node('n2', [{ role: 'y' }])];
    await n1.advertise();
    await n2.advertise();
  });
  const submit = async (run_id: string, steps: object[], requires = [needs('x'), needs('y')]): Promise<any> => {
    const { status, body } = await server.send('POST', '/v1/runs', { body: { run_id, requires, steps } });
    expect(status).toBe(201);
    return body;
  };
  const get = async (runId: string): Promise<any> => (await server.send('GET', `/v1/runs/${runId}`)).body;
  const cancel = (runId: string): Promise<unknown> => server.send('POST', `/v1/runs/${runId}/cancel`);

  it('E1 of eight parallel claims without an instance one gets the step, seven get 204 with no body', async () => {
    await submit('e1', [step('only', 'x', { env: ['HOME'], run: ['make', 'all'] })], [needs('x')]);
    const answers = await Promise.all(Array.from({ length: 8 }, () => n1!.claim()));

    expect(answers.map((one) => one.status).sort()).toEqual([200, 204, 204, 204, 204, 204, 204, 204]);
    expect(answers.filter((one) => one.status === 204).every((one) => one.body === '')).toBe(true);
    const claimed = answers.find((one) => one.status === 200)!.body;
    const [lease] = await server.database.sql("SELECT nonce, not_after FROM leases WHERE run_id = 'e1'");
    expect(claimed).toEqual({
      run_id: 'e1',
      seq: 1,
      id: 'only',
      kind: 'run',
      attempt: 1,
      uses: 'x',
      run: ['make', 'all'],
      env: ['HOME'],
      assigned: [{ as: 'x', nodes: [{ node_id: 'n1', label: 'n1' }] }],
      principal: 'anonymous',
      lease: { run_id: 'e1', node_id: 'n1', nonce: lease!.nonce, not_after: (lease!.not_after as Date).toISOString() },
    });
    expect(await server.database.sql("SELECT attempt, state FROM attempts WHERE run_id = 'e1'")).toEqual([
      { attempt: 1, state: 'CLAIMED' },
    ]);
    expect((await get('e1')).steps[0]).toMatchObject({ state: 'CLAIMED', node_id: 'n1' });
    expect((await n1!.report(claimed)).body.run_state).toBe('SUCCEEDED');
  });

  it('tells every field that is for the node, as it stands in the contract, and no other', async () => {
    const made = { uses: 'x', in: ['seed'], out: ['image'], schema: { image: { type: 'object' } }, env: ['PATH'] };
    const run: Required<RunClaimFields> = { ...made, id: 'build', run: ['make', 'all'], timeout_seconds: 60 };
    const agent: Required<AgentClaimFields> = { ...made, id: 'think', agent: { '10': 1, '2': [] }, timeout_seconds: 7 };
    const untold = { needs: ['first'], release: [], loop: { back_to: 'build', max: 2, until: { exit_code: 0 } } };
    await submit('told', [step('first', 'x', { out: ['seed'] }), { ...run, ...untold }, agent], [needs('x')]);
    const first = (await n1!.claim()).body;
    await upload(server, first, 'seed', '{}');
    await n1!.report(first);
    for (const told of [run, agent]) {
      const { body } = await n1!.claim();
      const { run_id, seq, kind, attempt, assigned, principal, lease, ...fields } = body;
      expect({ run_id, kind, attempt, principal }).toEqual({
        run_id: 'told',
        kind: kindOf(told),
        attempt: 1,
        principal: 'anonymous',
      });
      expect([seq, assigned, lease]).toEqual([expect.any(Number), expect.any(Array), expect.any(Object)]);
      expect(fields).toEqual(told);
      await upload(server, body, 'image', '{}');
      await n1!.report(body);
    }
  });

  it('E1 of eight claims by eight instances none is given the step that another holds', async () => {
    await submit('e1-named', [step('only', 'x')], [needs('x')]);
    const answers = await Promise.all(
      Array.from({ length: 8 }, (_, n) => {
        const named = server.node('n1');
        named.instance = `boot-${n}`;
        return named.claim();
      }),
    );
    expect(answers.filter((one) => one.status === 200)).toHaveLength(1);
    await cancel('e1-named');
  });

  it('E2 step 2 is given only after step 1 has been reported', async () => {
    await submit('e2', [step('one', 'x'), step('two', 'y')]);
    expect((await n2!.claim()).status).toBe(204);
    const first = (await n1!.claim()).body;
    expect(first.seq).toBe(1);
    expect((await n2!.claim()).status).toBe(204);
    await n1!.report(first);
    expect((await n2!.work()).body).toMatchObject({ seq: 2, run_state: 'SUCCEEDED' });
  });

  it('E3 the same instance gets the step it holds again; only it may report it, and only once', async () => {
    const named = server.node('n1', [{ role: 'x' }]);
    named.instance = 'boot-1';
    await named.advertise();
    await submit('e3', [step('one', 'x'), step('two', 'y', { needs: [] }), step('free', 'x', { needs: [] })]);
    const first = await named.claim();
    const { started_at } = (await get('e3')).steps[0];

    const again = await named.claim();

    expect(again).toMatchObject({ status: 200, body: first.body });
    expect((await get('e3')).steps[0]).toMatchObject({ started_at, attempt: 1, state: 'CLAIMED' });
    const other = (await n2!.claim()).body;
    expect(other.id).toBe('two');
    const stored = await everything(server.database);
    const elsewhere = { ...first.body, lease: other.lease };
    expect(await n2!.report(elsewhere)).toMatchObject({ status: 409, body: { code: 'not_claimed' } });
    expect(await everything(server.database)).toEqual(stored);

    expect((await named.report(first.body)).status).toBe(200);
    const reported = await everything(server.database);
    expect(await named.report(first.body)).toMatchObject({ status: 409, body: { code: 'not_claimed' } });
    expect(await everything(server.database)).toEqual(reported);
    expect((await named.claim()).body.id).toBe('free');
    await cancel('e3');
  });

  it('E4 parallel branches are claimed at once, and the join waits for both', async () => {
    await n1!.advertise();
    const branches = [step('left', 'x', { needs: [] }), step('right', 'y', { needs: [] })];
    await submit('e4', [...branches, step('join', 'x', { needs: ['left', 'right'] })]);
    const [left, right] = [(await n1!.claim()).body, (await n2!.claim()).body];
    expect([left.id, right.id]).toEqual(['left', 'right']);

    await n1!.report(left);
    expect((await n1!.claim()).status).toBe(204);
    await n2!.report(right);
    expect((await n1!.work()).body).toMatchObject({ seq: 3, run_state: 'SUCCEEDED' });
  });

  it('E4 a node without an instance may hold both branches at once, in the order of the steps', async () => {
    await submit('e4-same', [step('left', 'x', { needs: [] }), step('right', 'x', { needs: [] })], [needs('x')]);
    const both = [(await n1!.claim()).body, (await n1!.claim()).body];
    expect(both.map((one) => one.id)).toEqual(['left', 'right']);
    await n1!.report(both[1]);
    expect((await n1!.report(both[0])).body.run_state).toBe('SUCCEEDED');
  });

  it('steps of the node of a role with count run on its first node only', async () => {
    await server.node('c1', [{ role: 'c' }]).advertise();
    await server.node('c2', [{ role: 'c' }]).advertise();
    const run = await submit('counted', [step('only', 'c')], [needs('c', { count: 2 })]);
    expect(run.assigned[0].nodes.map((node: any) => node.node_id)).toEqual(['c1', 'c2']);
    expect((await server.node('c2').claim()).status).toBe(204);
    expect((await server.node('c1').work()).body.run_state).toBe('SUCCEEDED');
  });

  it('the claim of a queued run waits, also of a node that nobody knows', async () => {
    await submit('holder', [step('only', 'x')], [needs('x')]);
    await n1!.claim();
    await server.send('POST', '/v1/runs', { body: R('x', { run_id: 'queued' }) });
    expect((await n1!.claim()).status).toBe(204);
    expect((await server.node('nobody').claim()).status).toBe(204);
    await cancel('queued');
    await cancel('holder');
  });

  it.each(['-1', '301', 'soon', '1.5'])('wait=%s is a 400', async (wait) => {
    const { status, body } = await server.send('POST', `/v1/nodes/n1/claim?wait=${wait}`);
    expect([status, body.code]).toEqual([400, 'invalid_request']);
  });

  it.each<[string, RequestInit]>([
    ['no body', {}],
    ['an empty body of a type', { body: '', headers: { 'content-type': 'text/plain' } }],
    ['an empty body of a type that is none', { body: '', headers: { 'content-type': '*/*' } }],
    ['a form', { body: 'a=b', headers: { 'content-type': 'application/x-www-form-urlencoded' } }],
    ['JSON', { body: '{}', headers: { 'content-type': 'application/json' } }],
    ['what is no JSON', { body: '{', headers: { 'content-type': 'application/json' } }],
    ['bytes without a type', { body: new Uint8Array(10) }],
  ])('H8: a claim takes no body, and %s counts as none', async (_what, sent) => {
    const response = await fetch(`${server.url}/v1/nodes/n1/claim?wait=0`, { method: 'POST', ...sent });
    expect(response.status).toBe(204);
  });

  it('a node id that is none is a 400', async () => {
    expect((await server.send('POST', '/v1/nodes/-x/claim?wait=0')).status).toBe(400);
  });
});

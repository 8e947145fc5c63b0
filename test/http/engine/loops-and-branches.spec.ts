import { describe, expect, it } from '@jest/globals';
import { needs, R, step } from '../../support/contracts.js';
import type { PlayedNode } from '../../support/played-node.js';
import { serverSuite } from '../../support/server-suite.js';

describe('loops and branches', () => {
  const server = serverSuite();
  const submit = async (contract: object) => (await server.send('POST', '/v1/runs', { body: contract })).status;
  const get = async (runId: string) => (await server.send('GET', `/v1/runs/${runId}`)).body;
  const statesOf = async (runId: string) =>
    Object.fromEntries((await get(runId)).steps.map((one: any) => [one.id, one.state]));
  const play = async (role: string): Promise<PlayedNode> => {
    const node = server.node(`n-${role}`, [{ role }]);
    await node.advertise();
    return node;
  };
  const loops = (role: string, run_id: string) => ({
    run_id,
    requires: [needs(role)],
    steps: [step('try', role), step('test', role, { loop: { back_to: 'try', max: 3, until: { exit_code: 0 } } })],
  });

  it('C6 exits 1, 1, 0: two rollbacks, three attempts, SUCCEEDED', async () => {
    const node = await play('c6a');
    expect(await submit(loops('c6a', 'c6-a'))).toBe(201);
    const answers = [];
    for (const exit_code of [1, 1, 0]) {
      await node.work();
      answers.push((await node.work({ exit_code })).body);
    }
    expect(answers.map(({ step_state, rolled_back, run_state }) => [step_state, rolled_back, run_state])).toEqual([
      ['PENDING', true, 'RUNNING'],
      ['PENDING', true, 'RUNNING'],
      ['DONE', false, 'SUCCEEDED'],
    ]);
    const attempts = await server.database.sql(
      "SELECT seq, attempt, state, result->>'exit_code' AS exit FROM attempts WHERE run_id = 'c6-a' ORDER BY seq, attempt",
    );
    expect(attempts.map((row: any) => [row.seq, row.attempt, row.state, row.exit])).toEqual([
      [1, 1, 'DONE', '0'],
      [1, 2, 'DONE', '0'],
      [1, 3, 'DONE', '0'],
      [2, 1, 'ROLLED_BACK', '1'],
      [2, 2, 'ROLLED_BACK', '1'],
      [2, 3, 'DONE', '0'],
    ]);
  });

  it('C6 exits 1, 1, 1: the attempts are used up, FAILED', async () => {
    const node = await play('c6b');
    expect(await submit(loops('c6b', 'c6-b'))).toBe(201);
    let last;
    for (const exit_code of [1, 1, 1]) {
      await node.work();
      last = (await node.work({ exit_code })).body;
    }
    expect(last).toMatchObject({ step_state: 'FAILED', rolled_back: false, run_state: 'FAILED' });
    expect((await get('c6-b')).verdict).toMatchObject({ reason: 'step_failed' });
  });

  it('B4 a report that is rolled back changes no lease and sweeps nothing', async () => {
    const node = await play('b4');
    expect(await submit(loops('b4', 'b4-a'))).toBe(201);
    expect(await submit(R('b4', { run_id: 'b4-b' }))).toBe(202);
    await node.work();
    const claim = (await node.claim()).body;
    const leases = () => server.database.sql('SELECT node_id, run_id, nonce FROM leases ORDER BY 1');
    const before = [await leases(), await server.figure('mediator_sweeps_total{result="clean"}')];

    expect((await node.report(claim, { exit_code: 1 })).body.rolled_back).toBe(true);

    expect([await leases(), await server.figure('mediator_sweeps_total{result="clean"}')]).toEqual(before);
    expect(await server.figure('mediator_wakes_total{why="result"}')).toBeGreaterThan(0);
    expect((await get('b4-b')).state).toBe('QUEUED');
    // The report's attempt is over: said again, it changes nothing.
    expect((await node.report(claim, { exit_code: 0 })).body.code).toBe('not_claimed');
    await server.send('POST', '/v1/runs/b4-a/cancel');
    await server.send('POST', '/v1/runs/b4-b/cancel');
  });

  it('D4 at-boundary and a rollback: rolled back, cancelled, and the queue is swept', async () => {
    const node = await play('d4');
    const other = server.node('d4-other', [{ role: 'd4z' }]);
    await other.advertise();
    const contract = loops('d4', 'd4-a');
    contract.requires.push(needs('d4z'));
    expect(await submit(contract)).toBe(201);
    expect(await submit(R('d4z', { run_id: 'd4-b' }))).toBe(202);
    await node.work();
    const claim = (await node.claim()).body;
    await node.advertise({ drain: 'at-boundary' });

    expect((await node.report(claim, { exit_code: 1 })).body).toMatchObject({
      step_state: 'CANCELLED',
      rolled_back: true,
      run_state: 'CANCELLED',
    });

    expect((await get('d4-a')).verdict).toMatchObject({ reason: 'drained', by: { kind: 'node', name: 'n-d4' } });
    expect((await get('d4-b')).state).toBe('RUNNING');
  });

  const dispatches = (role: string, run_id: string) => ({
    run_id,
    requires: [needs(role)],
    steps: [
      step('choose', role, { out: ['choice'], dispatch: { from: 'choice.next', to: ['left', 'right'] } }),
      step('left', role),
      step('left-2', role, { needs: ['left'] }),
      step('right', role),
      step('join', role, { needs: ['left-2', 'right'] }),
    ],
  });
  const choose = async (node: PlayedNode, choice: unknown) => {
    const claim = (await node.claim()).body;
    const path = `/v1/runs/${claim.run_id}/steps/${claim.seq}/blobs/choice`;
    const headers = { 'mediator-lease': claim.lease.nonce };
    expect((await server.send('PUT', path, { headers, body: choice })).status).toBe(204);
    return (await node.report(claim, { exit_code: 0, produced: ['choice'] })).body;
  };

  it('C7 the branch that is not taken is skipped to its end, and the join runs after both', async () => {
    const node = await play('c7a');
    expect(await submit(dispatches('c7a', 'c7-a'))).toBe(201);
    expect(await choose(node, { next: 'right' })).toMatchObject({ step_state: 'DONE', run_state: 'RUNNING' });
    expect(await statesOf('c7-a')).toEqual({
      choose: 'DONE',
      left: 'SKIPPED',
      'left-2': 'SKIPPED',
      right: 'PENDING',
      join: 'PENDING',
    });
    expect((await node.claim()).body.id).toBe('right');
    await server.send('POST', '/v1/runs/c7-a/cancel');
  });

  it.each([[{ next: 'elsewhere' }], [{ next: 5 }], [{}], ['right']])(
    'C7 a choice that is none, %j, fails the step, and the report is still 200',
    async (choice) => {
      const role = `c7-${JSON.stringify(choice).replace(/\W/g, '')}`;
      const node = await play(role);
      expect(await submit(dispatches(role, `run-${role}`))).toBe(201);
      expect(await choose(node, choice)).toMatchObject({ step_state: 'FAILED', run_state: 'FAILED' });
      const run = await get(`run-${role}`);
      expect(run.verdict.detail).toMatch(/the choice choice.next is/);
      expect(run.steps[0].result.error).toMatch(/must be one of left, right/);
    },
  );

  it('a node that nobody can use any more, now that a loop has gone round, is given back and promotes who waits', async () => {
    const [w, a] = [await play('rbw'), await play('rba')];
    await play('rbr');
    const out = { out: ['c'], dispatch: { from: 'c.v', to: ['A', 'M', 'X'] } };
    const again = { loop: { back_to: 'A', max: 3, until: { exit_code: 0 } }, needs: [] };
    const more = { want: { as: 'more', capability: 'nobody-has-it' }, acquired: 'U', unavailable: 'V' };
    const steps = [
      step('D', 'rbw', { needs: [], ...out }),
      step('A', 'rba', { needs: [] }),
      step('C', 'rba', again),
      { id: 'Q', acquire: more, needs: ['A', 'D'] },
      step('U', 'rbr', { needs: ['Q'] }),
      step('V', 'rbw', { needs: ['Q'] }),
      step('M', 'rbw', { needs: ['U', 'D'] }),
      step('X', 'rbw', { needs: ['D'] }),
      step('R', 'rbw', { needs: ['M', 'X'], release: ['rbr'] }),
    ];
    expect(await submit({ run_id: 'rb', requires: [needs('rbw'), needs('rba'), needs('rbr')], steps })).toBe(201);
    const [begun, looping] = [(await a.claim()).body, (await a.claim()).body];
    expect([begun.id, looping.id]).toEqual(['A', 'C']);
    const chooser = (await w.claim()).body;
    const path = `/v1/runs/rb/steps/${chooser.seq}/blobs/c`;
    await server.send('PUT', path, { headers: { 'mediator-lease': chooser.lease.nonce }, body: { v: 'X' } });
    await w.report(chooser);
    await w.work();
    await w.work();
    expect(await submit(R('rbr', { run_id: 'rb-next' }))).toBe(202);
    expect(await statesOf('rb')).toMatchObject({ R: 'DONE', U: 'PENDING', A: 'CLAIMED' });

    expect((await a.report(looping, { exit_code: 1 })).body).toMatchObject({ rolled_back: true, run_state: 'RUNNING' });

    expect(await statesOf('rb')).toMatchObject({ A: 'SKIPPED', C: 'PENDING', Q: 'DONE', U: 'SKIPPED' });
    expect((await get('rb-next')).state).toBe('RUNNING');
  });

  it('C10 a step over its time limit and one renew period: FAILED step_timeout, its nodes are the next run’s', async () => {
    const node = await play('c10');
    expect(await submit({ ...R('c10'), run_id: 'c10-a', steps: [step('slow', 'c10', { timeout_seconds: 5 })] })).toBe(
      201,
    );
    expect(await submit(R('c10', { run_id: 'c10-b' }))).toBe(202);
    const claim = (await node.claim()).body;
    expect(claim.timeout_seconds).toBe(5);
    const age = (seconds: number) =>
      server.database.sql(
        "UPDATE steps SET started_at = started_at - make_interval(secs => $1) WHERE run_id = 'c10-a'",
        [seconds],
      );
    await age(10);
    expect(await server.reap()).toMatchObject({ timeouts: 0 });
    await age(3600);

    expect(await server.reap()).toMatchObject({ timeouts: 1, errors: 0 });

    expect((await get('c10-a')).verdict).toMatchObject({ reason: 'step_timeout', by: { kind: 'server' } });
    expect((await get('c10-b')).state).toBe('RUNNING');
    expect((await node.report(claim)).status).toBe(409);
  });

  it('E4 a join waits for both branches, which are claimed at once', async () => {
    const n1 = await play('e4x');
    const n2 = await play('e4y');
    const steps = [
      step('x', 'e4x', { needs: [] }),
      step('y', 'e4y', { needs: [] }),
      step('join', 'e4x', { needs: ['x', 'y'] }),
    ];
    expect(await submit({ run_id: 'e4', requires: [needs('e4x'), needs('e4y')], steps })).toBe(201);
    const [x, y] = [(await n1.claim()).body, (await n2.claim()).body];
    expect([x.id, y.id]).toEqual(['x', 'y']);
    await n1.report(x);
    expect((await n1.claim()).status).toBe(204);
    await n2.report(y);
    expect((await n1.claim()).body.id).toBe('join');
  });
});

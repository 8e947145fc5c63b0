import { describe, expect, it } from '@jest/globals';
import { R } from '../../support/contracts.js';
import type { PlayedNode } from '../../support/played-node.js';
import { expectProblem } from '../../support/problem.js';
import { serverSuite } from '../../support/server-suite.js';
import { everything } from '../../support/stored.js';

describe('one process speaks for a node', () => {
  const server = serverSuite();
  /** A process of a node: the same node_id and offer, an instance of its own. */
  const processOf = (nodeId: string, instance?: string): PlayedNode => {
    const node = server.node(nodeId, [{ role: nodeId }]);
    node.instance = instance;
    return node;
  };
  const submit = (role: string): Promise<any> =>
    server.send('POST', '/v1/runs', { body: R(role, { run_id: `run-${role}-${Math.random()}` }) });
  const stateOf = async (runId: string): Promise<string> =>
    (await server.send<any>('GET', `/v1/runs/${runId}`)).body.state;

  it('G1 a late advert of the process before is 409 stale_instance, changes nothing, and the run of the newer goes on', async () => {
    const [old, young] = [processOf('a', 'I1'), processOf('a', 'I2')];
    await old.advertise();
    expect((await young.advertise()).status).toBe(200);
    const { body: run } = await submit('a');
    const { body: claim } = await young.claim();
    const stored = await everything(server.database);

    const answer = await old.advertise({ drain: 'at-boundary', capabilities: [] });

    expectProblem(answer, 409, 'stale_instance', '/v1/nodes');
    expect(answer.body.detail).toMatch(/I1 has to stop/);
    expect(await everything(server.database)).toEqual(stored);
    expect((await young.report(claim)).body).toMatchObject({ run_state: 'SUCCEEDED' });
    expect(await stateOf(run.run_id)).toBe('SUCCEEDED');
  });

  it('G1 of two processes in turns the older gets 409 each time, and loses only the step that it had claimed before', async () => {
    const [old, young] = [processOf('b', 'I1'), processOf('b', 'I2')];
    await old.advertise();
    const { body: first } = await submit('b');
    expect((await old.claim()).status).toBe(200);
    expect((await young.advertise()).status).toBe(200);
    expect(await stateOf(first.run_id)).toBe('FAILED');
    for (let turn = 1; turn <= 5; turn++) {
      const { body: run } = await submit('b');
      const { body: claim } = await young.claim();
      expectProblem(await old.advertise(), 409, 'stale_instance');
      expectProblem(await old.claim(), 409, 'stale_instance');
      expect((await young.advertise()).status).toBe(200);
      expect((await young.report(claim)).body).toMatchObject({ run_state: 'SUCCEEDED' });
      expect(await stateOf(run.run_id)).toBe('SUCCEEDED');
    }
  });

  it('G1 an instance that was superseded 16 processes ago is known, and one before it counts as new', async () => {
    for (let generation = 1; generation <= 18; generation++) {
      expect((await processOf('c', `I${generation}`).advertise()).status).toBe(200);
    }
    for (const known of ['I17', 'I3', 'I2'])
      expectProblem(await processOf('c', known).advertise(), 409, 'stale_instance');
    expect((await processOf('c', 'I1').advertise()).status).toBe(200);
    expectProblem(await processOf('c', 'I18').advertise(), 409, 'stale_instance');
  });

  it('an advert without an instance supersedes nobody, and is taken with a warning', async () => {
    const [named, nameless] = [processOf('d', 'I1'), processOf('d')];
    expect((await named.advertise()).body.warnings).toBeUndefined();
    const answer = await nameless.advertise();
    expect([answer.status, answer.body.warnings]).toEqual([200, [expect.stringMatching(/names no instance/)]]);
    expect((await named.advertise()).status).toBe(200);
  });

  it('G2 of adverts that arrive in the wrong order the later one stands: a late heartbeat lifts no drain', async () => {
    const node = processOf('e', 'I1');
    await node.advertise({ seq: 7 });
    const drained = await node.advertise({ seq: 9, drain: 'graceful' });
    const stored = await everything(server.database);

    for (const seq of [8, 9, 0]) {
      const late = await node.advertise({ seq, capabilities: [] });
      expect(late).toMatchObject({ status: 200, body: { drain: 'graceful', leases: [] } });
      expect(late.body.warnings).toEqual([expect.stringMatching(/came first/)]);
      expect(late.body.expires_at).toBe(drained.body.expires_at);
    }
    expect(await everything(server.database)).toEqual(stored);

    expect((await node.advertise({ seq: 10 })).body).toMatchObject({ drain: '' });
  });

  it('G2 seq is compared within one instance, while its last advert lives, and where both have one', async () => {
    const node = processOf('f', 'I1');
    await node.advertise({ seq: 5 });
    expect((await node.advertise({ drain: 'graceful' })).body).toMatchObject({ drain: 'graceful' });
    expect((await node.advertise({ seq: 5 })).body).toMatchObject({ drain: 'graceful' });
    expect((await processOf('f', 'I2').advertise({ seq: 0 })).body).toMatchObject({ drain: '' });
    expect((await processOf('f', 'I2').advertise({ seq: 0, drain: 'graceful' })).body).toMatchObject({ drain: '' });
    await server.database.sql("UPDATE nodes SET expires_at = clock_timestamp() WHERE node_id = 'f'");
    expect((await processOf('f', 'I2').advertise({ seq: 0, drain: 'graceful' })).body.drain).toBe('graceful');
    const nameless = processOf('g');
    await nameless.advertise({ seq: 3 });
    expect((await nameless.advertise({ seq: 1, drain: 'graceful' })).body.drain).toBe('graceful');
  });

  it.each([-1, 1.5, '1', 2 ** 53])('seq %j: 400 with the pointer, and nothing is stored', async (seq) => {
    const stored = await everything(server.database);
    const answer = await processOf('h', 'I1').advertise({ seq });
    expectProblem(answer, 400, 'invalid_request');
    expect(answer.body.errors).toEqual([{ pointer: '/seq', detail: expect.stringMatching(/whole number/) }]);
    expect(await everything(server.database)).toEqual(stored);
  });
});

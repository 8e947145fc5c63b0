import { describe, expect, it } from '@jest/globals';
import { needs, R, step } from '../../support/contracts.js';
import { moveClock } from '../../support/move-clock.js';
import type { PlayedNode } from '../../support/played-node.js';
import { cancel, countWakes, show, submit } from '../../support/queue.js';
import { serverSuite } from '../../support/server-suite.js';

describe('a node that ends one run after the other by its own doing', () => {
  const server = serverSuite({ env: { MEDIATOR_QUARANTINE_AFTER: '3', MEDIATOR_START_SECONDS: '600' } });
  const held = async (nodeId: string): Promise<any> => (await server.send<any>('GET', `/v1/nodes/${nodeId}`)).body.held;
  const hold = (nodeId: string): Promise<any> =>
    server.send('PUT', `/v1/nodes/${nodeId}/hold`, {
      body: { reason: 'mine' },
      headers: { 'mediator-principal': 'olga' },
    });
  const lift = (nodeId: string): Promise<any> => server.send('DELETE', `/v1/nodes/${nodeId}/hold`);
  const faults = async (nodeId: string): Promise<string[]> => {
    const [row] = await server.database.sql<{ faults: string[] }>('SELECT faults FROM nodes WHERE node_id = $1', [
      nodeId,
    ]);
    return row!.faults;
  };

  async function live(nodeId: string): Promise<PlayedNode> {
    const node = server.node(nodeId, [{ role: nodeId }]);
    node.instance = `${nodeId}-1`;
    await node.advertise();
    return node;
  }
  let boots = 1;
  const ways = {
    error: async (node: PlayedNode) => void (await node.work({ error: 'no power' })),
    restart: async (node: PlayedNode) => {
      await node.claim();
      node.instance = `${node.nodeId}-${++boots}`;
      // The very answer says whether it is held by now.
      expect((await node.advertise()).body.held).toEqual(await held(node.nodeId));
    },
    silence: async (node: PlayedNode) => {
      await node.claim();
      await node.claim();
      await server.database.sql('UPDATE nodes SET expires_at = clock_timestamp() WHERE node_id = $1', [node.nodeId]);
      await server.reap();
      await node.advertise();
    },
    sloth: async (node: PlayedNode) => {
      await moveClock(server.database, 601);
      await node.advertise();
      await server.reap();
    },
  };
  /** A run on this node that it ends so. */
  async function fail(node: PlayedNode, runId: string, way: keyof typeof ways = 'error'): Promise<void> {
    expect((await submit(server, R(node.nodeId, { run_id: runId }))).status).toBe(201);
    await ways[way](node);
    expect((await show(server, runId)).state).toBe('FAILED');
  }

  it('G9 the N-th run in a row: it is held, with these runs as evidence, and the next one waits', async () => {
    const node = await live('n');
    for (const way of ['error', 'silence', 'restart'] as const) await fail(node, `n-${way}`, way);

    const evidence = ['n-error', 'n-silence', 'n-restart'];
    const reason = '3 runs in a row ended by its own doing, the last one by a restart';
    expect(await held('n')).toEqual({ reason, by: 'mediator', since: expect.any(String), evidence });
    expect((await node.advertise()).body.held).toMatchObject({ by: 'mediator', evidence });
    expect(
      await server.database.sql("SELECT data FROM events WHERE kind = 'node_held' AND data->>'node_id' = 'n'"),
    ).toEqual([{ data: { node_id: 'n', by: 'mediator', reason, evidence } }]);
    const { status, body } = await submit(server, R('n', { run_id: 'n-next' }));
    expect([status, body.waiting.reason, body.waiting.roles[0].held]).toEqual([202, 'DRAINING', 1]);
    expect(body.waiting.detail).toContain(`n is held by mediator: "${reason}".`);
    await lift('n');
    expect((await show(server, 'n-next')).state).toBe('RUNNING');
    expect(await faults('n')).toEqual([]);
    // The count starts anew.
    await ways.error(node);
    await fail(node, 'n-again');
    expect(await held('n')).toBeNull();
    await fail(node, 'n-third', 'sloth');
    expect((await held('n')).evidence).toEqual(['n-next', 'n-again', 'n-third']);
  });

  it('G9 a DONE step between starts the count anew', async () => {
    const node = await live('good');
    for (const run of ['good-1', 'good-2']) await fail(node, run);
    await submit(server, R('good', { run_id: 'good-3' }));
    expect((await node.work()).body.run_state).toBe('SUCCEEDED');
    expect(await faults('good')).toEqual([]);
    for (const run of ['good-4', 'good-5']) await fail(node, run);
    expect(await held('good')).toBeNull();
    expect(await faults('good')).toEqual(['good-4', 'good-5']);
  });

  it('a run that went back to the queue because it was silent counts each time', async () => {
    const node = await live('mute');
    await submit(server, R('mute', { run_id: 'mute' }));
    for (let time = 0; time < 3; time++) {
      await server.database.sql("UPDATE nodes SET expires_at = clock_timestamp() WHERE node_id = 'mute'");
      await server.reap();
      await node.advertise();
    }
    expect((await held('mute')).evidence).toEqual(['mute', 'mute', 'mute']);
    expect(await show(server, 'mute')).toMatchObject({ state: 'QUEUED', waiting: { reason: 'DRAINING' } });
    await cancel(server, 'mute');
  });

  it('of a run of several nodes it counts against those alone that fell silent', async () => {
    const [a, b] = [await live('pair-a'), await live('pair-b')];
    await submit(server, {
      run_id: 'pair',
      requires: [needs('pair-a'), needs('pair-b')],
      steps: [step('only', 'pair-a')],
    });
    await server.database.sql("UPDATE nodes SET expires_at = clock_timestamp() WHERE node_id = 'pair-b'");
    await server.reap();
    expect([await faults(a.nodeId), await faults(b.nodeId)]).toEqual([[], ['pair']]);
    await cancel(server, 'pair');
  });

  it.each([
    ['an exit code', async (node: PlayedNode) => void (await node.work({ exit_code: 1 }))],
    ['a cancel', (_node: PlayedNode, run: string) => cancel(server, run)],
    [
      'a drain before anything has begun',
      async (node: PlayedNode, run: string) => {
        await node.advertise({ drain: 'at-boundary' });
        await cancel(server, run);
        await node.advertise();
      },
    ],
  ])('%s is not its doing', async (what, act) => {
    const role = `not-${what.length}`;
    const node = await live(role);
    await submit(server, R(role, { run_id: role }));
    await act(node, role);
    expect(await faults(role)).toEqual([]);
  });

  it("never replaces an operator's hold, nor forgets the count under it; an operator may make it his own", async () => {
    const node = await live('op');
    const run = { run_id: 'op-long', requires: [needs('op')], steps: [step('one', 'op'), step('two', 'op')] };
    for (const one of ['op-1', 'op-2']) await fail(node, one);
    await submit(server, run);
    await hold('op');
    await ways.error(node);
    expect(await held('op')).toEqual({ reason: 'mine', by: 'olga', since: expect.any(String) });
    expect(await faults('op')).toEqual(['op-1', 'op-2', 'op-long']);
    await lift('op');
    for (const one of ['op-3', 'op-4', 'op-5']) await fail(node, one);
    expect((await held('op')).by).toBe('mediator');
    await hold('op');
    expect(await held('op')).toEqual({ reason: 'mine', by: 'olga', since: expect.any(String) });
  });

  it('G10 forgetting clears its own hold and the count; an operator stays', async () => {
    const node = await live('gone');
    const forget = async (): Promise<number> => {
      await server.database.sql("UPDATE nodes SET expires_at = clock_timestamp() WHERE node_id = 'gone'");
      return (await server.send('DELETE', '/v1/nodes/gone')).status;
    };
    for (const run of ['gone-1', 'gone-2', 'gone-3']) await fail(node, run);
    expect((await held('gone')).by).toBe('mediator');
    expect(await forget()).toBe(204);
    const counted = await countWakes(server);
    expect((await node.advertise()).body.held).toBeNull();
    expect((await counted()).wakes).toEqual({ 'node-joined': 1 });
    expect(await faults('gone')).toEqual([]);
    await hold('gone');
    expect(await forget()).toBe(204);
    expect((await node.advertise()).body.held).toMatchObject({ by: 'olga' });
  });
});

describe('with MEDIATOR_QUARANTINE_AFTER=0', () => {
  const server = serverSuite({ env: { MEDIATOR_QUARANTINE_AFTER: '0' } });
  it('nothing is counted, and no node is held', async () => {
    const node = server.node('n', [{ role: 'x' }]);
    await node.advertise();
    for (let run = 0; run < 8; run++) {
      expect((await submit(server, R('x', { run_id: `r-${run}` }))).status).toBe(201);
      await node.work({ error: 'no power' });
    }
    expect(await server.database.sql('SELECT faults, held_since FROM nodes')).toEqual([
      { faults: [], held_since: null },
    ]);
  });
});

import { afterAll, afterEach, beforeAll, describe, expect, it } from '@jest/globals';
import { atFailpoints } from '../../src/platform/failpoints.js';
import { R, needs, step } from '../support/contracts.js';
import { startTestMediator, type TestMediator } from '../support/mediator.js';
import type { PlayedNode } from '../support/played-node.js';
import { hold, once } from '../support/points.js';
import { rowsOf } from '../support/stored.js';

describe('a node that is given back while a run is being queued', () => {
  let server: TestMediator;
  beforeAll(async () => {
    server = await startTestMediator();
  });
  afterEach(async () => {
    atFailpoints(undefined);
    expect(await server.violations()).toEqual([]);
  });
  afterAll(() => server.close());

  const submit = (body: unknown) => server.send('POST', '/v1/runs', { body });
  const shown = async (runId: string) => (await server.send('GET', `/v1/runs/${runId}`)).body;

  /** A node of this role, held by a run. */
  async function held(role: string): Promise<PlayedNode> {
    const node = server.node(`N-${role}`, [{ role }]);
    await node.advertise();
    expect((await submit(R(role, { run_id: `${role}-a` }))).status).toBe(201);
    return node;
  }

  it.each<[string, string]>([
    ['submit.matched', 'enqueued'],
    ['enqueue.before-commit', 'enqueued'],
    ['enqueue.committed', 'result'],
  ])('A13 at %s: the answer is 201 RUNNING', async (where, why) => {
    const role = `a13-${where.replace('.', '-')}`;
    const node = await held(role);
    const late = hold(where);
    const b = submit(R(role, { run_id: `${role}-b` }));
    await late.reached;
    // The release commits and wakes, and the wake is over, while the row of b is not there, or b has not woken yet.
    expect((await node.work()).body.run_state).toBe('SUCCEEDED');
    late.letGo();

    const { status, headers, body } = await b;
    expect(status).toBe(201);
    expect(headers.get('location')).toBe(`/v1/runs/${role}-b`);
    expect(headers.get('etag')).toBe(`"${body.version}"`);
    expect(headers.has('retry-after')).toBe(false);
    expect(body).toMatchObject({
      state: 'RUNNING',
      assigned: [{ as: role, nodes: [{ node_id: `N-${role}` }] }],
      steps: [{ state: 'PENDING', node_id: `N-${role}` }],
      ended_at: null,
    });
    expect(body.started_at).not.toBeNull();
    expect(body).not.toHaveProperty('waiting');
    expect(await rowsOf(server.database, `${role}-b`)).toEqual({
      runs: 1,
      steps: 1,
      leases: 1,
      grants: 1,
      records: 1,
      events: 2,
    });
    // It was queued and promoted, and by whom; it did not start at once.
    const [story] = await server.database.sql(
      'SELECT queued_at IS NOT NULL AS queued, promoted_whys, wait_reason FROM runs WHERE run_id = $1',
      [`${role}-b`],
    );
    expect(story).toEqual({ queued: true, promoted_whys: [why], wait_reason: 'BUSY' });
    expect((await node.claim()).body).toMatchObject({ run_id: `${role}-b`, seq: 1 });
  });

  it('A13 a node that joins at that moment is taken too', async () => {
    await held('join');
    once('enqueue.before-commit', () => server.node('N-joined', [{ role: 'join' }]).advertise());
    const { status, body } = await submit(R('join', { run_id: 'join-b' }));
    expect([status, body.steps[0].node_id]).toEqual([201, 'N-joined']);
  });

  it('A13 whoever is first in line has it, also where that is not the run being submitted', async () => {
    const node = await held('line');
    expect((await submit(R('line', { run_id: 'line-b' }))).status).toBe(202);
    once('enqueue.before-commit', () => node.work());
    expect(await submit(R('line', { run_id: 'line-c' }))).toMatchObject({ status: 202, body: { state: 'QUEUED' } });
    expect((await shown('line-b')).state).toBe('RUNNING');
  });

  it('A13 the answer is 201 with the state the run has by then, were it over', async () => {
    const node = await held('over');
    once('enqueue.committed', async () => {
      expect((await node.work()).body.run_state).toBe('SUCCEEDED');
      expect((await node.work({ exit_code: 3 })).body).toMatchObject({ run_id: 'over-b', run_state: 'FAILED' });
    });
    const { status, headers, body } = await submit(R('over', { run_id: 'over-b' }));
    expect([status, body.state, body.verdict.reason]).toEqual([201, 'FAILED', 'step_failed']);
    expect(headers.has('retry-after')).toBe(false);
  });

  it('A13 one of two nodes given back is not enough, and is not taken', async () => {
    const node = await held('half');
    await held('other');
    const both = { requires: [needs('half'), needs('other')], steps: [step('h', 'half'), step('o', 'other')] };
    once('enqueue.before-commit', () => node.work());
    const { status } = await submit({ ...both, run_id: 'half-b' });
    expect(status).toBe(202);
    expect(await server.database.sql("SELECT 1 FROM leases WHERE node_id = 'N-half'")).toEqual([]);
  });
});

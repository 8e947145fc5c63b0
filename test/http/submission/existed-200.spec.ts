import { afterAll, afterEach, beforeAll, describe, expect, it } from '@jest/globals';
import { R } from '../../support/contracts.js';
import { startTestMediator, type TestMediator } from '../../support/mediator.js';
import { everything } from '../../support/stored.js';

describe('POST /v1/runs, 200', () => {
  let server: TestMediator;
  beforeAll(async () => {
    server = await startTestMediator();
  });
  afterEach(async () => {
    expect(await server.violations()).toEqual([]);
  });
  afterAll(() => server.close());

  const submit = (body: unknown, headers: Record<string, string> = {}) =>
    server.send('POST', '/v1/runs', { body, headers });

  it('A3 a queued run submitted again is answered 200 and stays one row; another contract gives a warning', async () => {
    await server.node('A3-N1', [{ role: 'a3' }]).advertise();
    await submit(R('a3', { run_id: 'a3-a' }));
    const first = await submit(R('a3', { run_id: 'a3-b' }));
    const before = await everything(server.database);
    const wakes = await server.figure('mediator_wakes_total{why="enqueued"}');

    const same = await submit(R('a3', { run_id: 'a3-b' }));
    expect(same.status).toBe(200);
    expect(same.body).toEqual(first.body);
    expect(same.headers.get('location')).toBe('/v1/runs/a3-b');
    expect(same.headers.get('etag')).toBe(first.headers.get('etag'));

    const other = await submit(R('a3', { run_id: 'a3-b', work: { system: 's', change_id: '1' } }));
    expect(other.status).toBe(200);
    const { warnings, ...run } = other.body;
    expect(warnings).toEqual([expect.stringMatching(/another contract/)]);
    expect(run).toEqual(first.body);

    expect(await everything(server.database)).toEqual(before);
    expect(await server.figure('mediator_wakes_total{why="enqueued"}')).toBe(wakes);
  });

  it('A3 the order of keys and white space make no other contract; a default written out does', async () => {
    await server.node('O1', [{ role: 'o' }]).advertise();
    await submit(R('o', { run_id: 'o-a' }));
    const turned = Object.fromEntries(Object.entries(R('o', { run_id: 'o-a' })).reverse());
    const spaced = await fetch(`${server.url}/v1/runs`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify(turned, null, 4),
    });
    expect(spaced.status).toBe(200);
    expect(await spaced.json()).not.toHaveProperty('warnings');
    expect((await submit(R('o', { run_id: 'o-a', spread: false }))).body.warnings).toHaveLength(1);
  });

  it('A3 whatever state the run has, it is that which is answered', async () => {
    const node = server.node('E1', [{ role: 'e' }]);
    await node.advertise();
    const again = async (run_id: string, role = 'e') => {
      const { status, body } = await submit(R(role, { run_id }));
      return [status, body.state];
    };
    await submit(R('e', { run_id: 'e-a' }));
    expect(await again('e-a')).toEqual([200, 'RUNNING']);
    await node.work();
    expect(await again('e-a')).toEqual([200, 'SUCCEEDED']);

    await submit(R('e', { run_id: 'e-b' }));
    await submit(R('e', { run_id: 'e-c' }));
    await server.send('POST', '/v1/runs/e-c/cancel');
    expect(await again('e-c')).toEqual([200, 'CANCELLED']);
    await node.work({ exit_code: 1 });
    expect(await again('e-b')).toEqual([200, 'FAILED']);

    expect((await submit(R('e-nowhere', { run_id: 'e-d' }))).status).toBe(422);
    const { status, body } = await submit(R('e-nowhere', { run_id: 'e-d' }));
    expect([status, body.verdict.reason]).toEqual([200, 'unsatisfiable']);
    // The node is free all the while: none of these was run again.
    expect(await server.database.sql("SELECT 1 FROM leases WHERE node_id = 'E1'")).toEqual([]);
  });

  it('A3 a run that exists is not matched again: another contract that nobody could serve is 200, an invalid one 400', async () => {
    await server.node('X1', [{ role: 'x' }]).advertise();
    const first = await submit(R('x', { run_id: 'x-a' }));
    const other = await submit(R('x-nowhere', { run_id: 'x-a' }));
    expect([other.status, other.body.requires]).toEqual([200, first.body.requires]);
    expect(other.body.warnings).toHaveLength(1);
    expect((await submit(R('x', { run_id: 'x-a', steps: [] }))).status).toBe(400);
  });

  it('A3 the run is found by its Idempotency-Key too', async () => {
    await server.node('I1', [{ role: 'i' }]).advertise();
    const send = () => submit(R('i'), { 'idempotency-key': 'i-key', 'mediator-principal': 'alice' });
    expect(await send()).toMatchObject({ status: 201, body: { run_id: 'i-key', principal: 'alice' } });
    const second = await send();
    expect(second).toMatchObject({ status: 200, body: { run_id: 'i-key', principal: 'alice' } });
    expect(second.body).not.toHaveProperty('warnings');
    expect(second.headers.get('location')).toBe('/v1/runs/i-key');
  });
});

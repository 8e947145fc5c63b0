import { afterAll, afterEach, beforeAll, describe, expect, it } from '@jest/globals';
import { R } from '../../support/contracts.js';
import type { Answer } from '../../support/http.js';
import { startTestMediator, type TestMediator } from '../../support/mediator.js';
import type { PlayedNode } from '../../support/played-node.js';
import { once } from '../../support/points.js';

describe('what leaves a waiting run alone, and what makes up for a seal that failed', () => {
  let server: TestMediator;
  let [n1, n2]: PlayedNode[] = [];
  beforeAll(async () => {
    server = await startTestMediator();
    [n1, n2] = [server.node('n1', [{ role: 'x' }]), server.node('n2', [{ role: 'y' }])];
    await n1.advertise();
    await n2.advertise();
    for (const body of [R('x', { run_id: 'a' }), R('y', { run_id: 'h' }), R('y', { run_id: 'b' })]) {
      await server.send('POST', '/v1/runs', { body });
    }
  });
  afterEach(async () => {
    expect(await server.violations()).toEqual([]);
  });
  afterAll(() => server.close());

  const get = (runId: string): Promise<Answer> => server.send('GET', `/v1/runs/${runId}`);
  const storedRun = async (): Promise<unknown[]> => [
    await server.database.sql("SELECT * FROM runs WHERE run_id = 'b'"),
    await server.database.sql("SELECT * FROM steps WHERE run_id = 'b'"),
    await server.database.sql("SELECT * FROM records WHERE run_id = 'b'"),
  ];

  it('C2 settlement never touches a queued run: neither a report of its step nor the end or drain of another run', async () => {
    const before = await storedRun();
    const claimed = (await n1!.claim()).body;
    const forged = { ...claimed, run_id: 'b' };
    expect(await n1!.report(forged)).toMatchObject({ status: 409, body: { code: 'stale_lease' } });
    expect(await n2!.report({ ...(await n2!.claim()).body, run_id: 'b' })).toMatchObject({ status: 409 });
    expect(await storedRun()).toEqual(before);

    expect((await n1!.report(claimed)).body.run_state).toBe('SUCCEEDED');
    await n2!.advertise({ drain: 'at-boundary' });
    expect(await storedRun()).toEqual(before);
    expect((await get('b')).body).toMatchObject({ state: 'QUEUED', waiting: { reason: 'BUSY' } });
    await n2!.advertise({ drain: 'graceful' });
  });

  it('C3 a run that has waited for a year and many reaper passes still waits, and its record is not sealed', async () => {
    await server.database.sql(
      "UPDATE runs SET created_at = created_at - interval '1 year', queued_at = queued_at - interval '1 year' WHERE run_id = 'b'",
    );
    const before = await storedRun();
    for (let pass = 1; pass <= 20; pass++) {
      expect(await server.reap()).toMatchObject({ expired: 0, leftovers: 0, sealed: 0, errors: 0 });
    }
    expect(await storedRun()).toEqual(before);
    expect((await get('b')).body).toMatchObject({ state: 'QUEUED', record: { state: 'OPEN', digest: null } });
    const record = await server.send('GET', '/v1/runs/b/record');
    expect([record.status, record.body.code]).toEqual([409, 'not_sealed']);
    expect(record.headers.get('content-type')).toContain('application/problem+json');
  });

  it.each(['seal.before-commit', 'seal.committed'])(
    'a seal that fails at %s does not fail the request; the reaper finishes the record, once',
    async (place) => {
      const runId = place.replace('.', '-');
      expect((await server.send('POST', '/v1/runs', { body: R('x', { run_id: runId }) })).status).toBe(201);
      once(place, () => {
        throw new Error('forced');
      });

      expect(await n1!.work()).toMatchObject({ status: 200, body: { run_id: runId, run_state: 'SUCCEEDED' } });

      const sealed = place === 'seal.committed';
      expect((await get(runId)).body.record.state).toBe(sealed ? 'SEALED' : 'OPEN');
      expect((await server.send('GET', `/v1/runs/${runId}/record`)).status).toBe(sealed ? 200 : 409);
      expect((await server.reap()).sealed).toBe(sealed ? 0 : 1);
      const { record } = (await get(runId)).body;
      expect(record).toMatchObject({ state: 'SEALED', digest: expect.stringMatching(/^sha256:[0-9a-f]{64}$/) });
      expect((await server.reap()).sealed).toBe(0);
      expect((await get(runId)).body.record).toEqual(record);
    },
  );

  it('whatever was begun by a transaction that failed just before its commit is rolled back, not left to the next', async () => {
    await server.send('POST', '/v1/runs', { body: R('x', { run_id: 'twice' }) });
    once('cancel.before-commit', () => {
      throw new Error('forced');
    });
    expect((await server.send('POST', '/v1/runs/twice/cancel')).status).toBe(500);
    // Every connection of the pool commits something of its own; what it was given half done would be committed with it.
    await Promise.all(Array.from({ length: 20 }, () => server.send('POST', '/v1/runs/b/cancel')));
    expect((await get('twice')).body.state).toBe('RUNNING');
    expect((await n1!.work()).body).toMatchObject({ run_id: 'twice', run_state: 'SUCCEEDED' });
  });
});

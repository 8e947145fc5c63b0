import { afterAll, afterEach, beforeAll, describe, expect, it } from '@jest/globals';
import { needs, R, step } from '../../support/contracts.js';
import { eventually } from '../../support/eventually.js';
import { startTestMediator, type TestMediator } from '../../support/mediator.js';
import type { PlayedClaim, PlayedNode } from '../../support/played-node.js';
import { blobPath, openUpload, type OpenUpload } from '../../support/uploads.js';

describe('an upload whose run or step ends while it streams', () => {
  let server: TestMediator;
  let other: TestMediator;
  let n1: PlayedNode;
  beforeAll(async () => {
    server = await startTestMediator();
    other = await startTestMediator({ database: server.database });
    n1 = server.node('n1', [{ role: 'x' }]);
    n1.instance = 'boot-1';
    await n1.advertise();
  });
  afterEach(async () => {
    const running = await server.database.sql<{ run_id: string }>("SELECT run_id FROM runs WHERE state = 'RUNNING'");
    for (const { run_id } of running) await server.send('POST', `/v1/runs/${run_id}/cancel`);
    expect(await server.violations()).toEqual([]);
  });
  afterAll(async () => {
    await other.close();
    await server.close();
  });

  const begin = async (body: Record<string, unknown>): Promise<PlayedClaim> => {
    expect((await server.send('POST', '/v1/runs', { body })).status).toBe(201);
    return (await n1.claim()).body;
  };
  /** An output or a log whose first piece is stored, and which says no more. */
  const stream = async (claim: PlayedClaim, what: 'output' | 'log'): Promise<OpenUpload> => {
    const path = what === 'log' ? `/v1/runs/${claim.run_id}/steps/${claim.seq}/log` : blobPath(claim, 'out');
    const open = openUpload(server.url + path, { 'mediator-lease': claim.lease.nonce });
    open.send(Buffer.alloc(300_000));
    const table = what === 'log' ? 'log_chunks' : 'blob_chunks JOIN blobs USING (upload_id)';
    await eventually('its first piece is stored', async () => {
      return (await server.database.sql(`SELECT FROM ${table} WHERE run_id = $1`, [claim.run_id])).length > 0;
    });
    return open;
  };
  const timed = async (open: OpenUpload, act: () => Promise<unknown>): Promise<object> => {
    await act();
    const since = performance.now();
    const { status, code } = await open.answer;
    expect(performance.now() - since).toBeLessThan(2000);
    open.breakOff();
    return { status, code };
  };

  it.each(['output', 'log'] as const)('L9: of %s: 410 within 2 s of the cancel, by whichever server', async (what) => {
    for (const [index, canceller] of [server, other].entries()) {
      const run_id = `${what}-${index}`;
      const open = await stream(await begin(R('x', { run_id })), what);
      const answered = await timed(open, () => canceller.send('POST', `/v1/runs/${run_id}/cancel`));
      expect(answered).toEqual({ status: 410, code: 'run_over' });
    }
    expect(await server.database.sql('SELECT FROM blobs WHERE published_at IS NULL')).toEqual([]);
  });

  it('L9: 410 where the run ends by the report of its step, and by another instance of its node', async () => {
    const reported = await begin(R('x', { run_id: 'reported' }));
    expect(await timed(await stream(reported, 'output'), () => n1.report(reported))).toMatchObject({ status: 410 });
    const restarted = await stream(await begin(R('x', { run_id: 'restarted' })), 'output');
    n1.instance = 'boot-2';
    expect(await timed(restarted, () => n1.advertise())).toMatchObject({ status: 410 });
  });

  it('L9: 410 where the lease runs out, and 409 where only the step is over or its attempt', async () => {
    const expired = await stream(await begin(R('x', { run_id: 'expired' })), 'output');
    await server.database.sql(
      "UPDATE leases SET not_after = clock_timestamp() - interval '1 s' WHERE run_id = 'expired'",
    );
    expect(await timed(expired, () => other.reap())).toMatchObject({ status: 410 });
    const steps = [step('one', 'x'), step('two', 'x')];
    const claim = await begin({ run_id: 'step', requires: [needs('x')], steps });
    expect(await timed(await stream(claim, 'log'), () => n1.report(claim))).toEqual({
      status: 409,
      code: 'not_claimed',
    });
  });

  it('L9: an upload of a run that goes on is left alone, whatever becomes of others', async () => {
    const open = await stream(await begin(R('x', { run_id: 'goes-on' })), 'output');
    const n2 = server.node('n2', [{ role: 'y' }]);
    await n2.advertise();
    for (let index = 0; index < 3; index++) {
      await server.send('POST', '/v1/runs', { body: R('y', { run_id: `beside-${index}` }) });
      await n2.work();
    }
    open.send('the end');
    open.end();
    expect(await open.answer).toMatchObject({ status: 204 });
  });
});

import { createHash } from 'node:crypto';
import { afterEach, describe, expect, it } from '@jest/globals';
import { needs, R, step } from '../../support/contracts.js';
import { eventually } from '../../support/eventually.js';
import type { PlayedClaim } from '../../support/played-node.js';
import { expectProblem } from '../../support/problem.js';
import { cancelRunning } from '../../support/queue.js';
import { serverSuite } from '../../support/server-suite.js';
import { everything } from '../../support/stored.js';
import { blobPath, openUpload, type OpenUpload, upload } from '../../support/uploads.js';

describe('the upload of an output that has a schema', () => {
  const server = serverSuite({ tidy: cancelRunning });
  const n1 = server.liveNode('n1', { role: 'x' });
  afterEach(async () => {
    expect(await unpublished()).toEqual([]);
  });
  const begin = async (runId: string, more: Record<string, unknown>): Promise<PlayedClaim> => {
    await server.send('POST', '/v1/runs', { body: R('x', { run_id: runId, steps: [step('only', 'x', more)] }) });
    return (await n1.claim()).body;
  };
  const unpublished = (): Promise<object[]> =>
    server.database.sql('SELECT upload_id FROM blobs WHERE published_at IS NULL');

  const schema = {
    verdict: {
      type: 'object',
      required: ['ok'],
      properties: { ok: { type: 'boolean' } },
      additionalProperties: false,
    },
  };

  it.each([
    ['a value that does not fit', '{"ok":"yes"}', '/ok', /boolean/],
    ['a member too many', '{"ok":true,"more":1}', '', /additional/],
    ['no JSON', '{"ok":', '', /JSON/],
    ['nothing at all', undefined, '', /JSON/],
    ['no UTF-8', Buffer.from('7b226f6b223a22ff227d', 'hex'), '', /UTF-8/],
    ['a byte order mark', '\ufeff{"ok":true}', '', /JSON/],
  ])(
    '%s is 422 with its pointer, whatever the media type, and nothing is stored',
    async (_what, body, pointer, says) => {
      const claim = await begin(`schema-${_what.replaceAll(' ', '-')}`, { out: ['verdict'], schema });
      const stored = await everything(server.database);
      for (const type of [undefined, 'application/json', 'image/png']) {
        const problem = expectProblem(
          await upload(server, claim, 'verdict', body, type === undefined ? {} : { type }),
          422,
          'schema_violation',
        );
        expect(problem.errors).toEqual([{ pointer, detail: expect.stringMatching(says) }]);
      }
      expect(await everything(server.database)).toEqual(stored);
    },
  );

  it('what fits is stored as it came, in any number at once; other outputs are not judged', async () => {
    const claim = await begin('fits', { out: ['verdict', 'rest'], schema });
    const text = ` { "ok" : true }${' '.repeat(500_000)}`;
    const answers = await Promise.all([
      upload(server, claim, 'verdict', text),
      upload(server, claim, 'verdict', '{"ok":1}'),
      upload(server, claim, 'rest', 'no JSON'),
      upload(server, claim, 'unpromised', 'no JSON'),
    ]);
    expect(answers.map(({ status }) => status)).toEqual([204, 422, 204, 204]);
    const [kept] = await server.database.sql<{ bytes: Buffer }>(
      "SELECT bytes FROM blobs JOIN blob_chunks USING (upload_id) WHERE run_id = 'fits' AND name = 'verdict' ORDER BY at",
    );
    expect(text.startsWith(String(kept!.bytes))).toBe(true);
    const [blob] = await server.database.sql(
      "SELECT size, sha256 FROM blobs WHERE run_id = 'fits' AND name = 'verdict'",
    );
    expect(blob).toEqual({ size: String(text.length), sha256: createHash('sha256').update(text).digest('hex') });
  });

  it('who has lost the step meanwhile hears that first', async () => {
    const claim = await begin('lost', { out: ['verdict'], schema });
    const headers = { 'mediator-lease': claim.lease.nonce };
    const open = openUpload(server.url + blobPath(claim, 'verdict'), headers);
    await eventually('it has begun', async () => (await unpublished()).length === 1);
    await server.send('POST', '/v1/runs/lost/cancel');
    open.send('no JSON');
    open.end();
    expect(await open.answer).toMatchObject({ status: 410, code: 'run_over' });
  });
});

describe('an upload whose run or step ends while it streams', () => {
  const server = serverSuite({ tidy: cancelRunning });
  const other = serverSuite({ beside: server });
  const n1 = server.liveNode('n1', { role: 'x' });
  n1.instance = 'boot-1';
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

describe('ten callers who stall, with two connections to the database', () => {
  const server = serverSuite({ env: { MEDIATOR_DB_POOL_SIZE: '2' } });
  const n1 = server.liveNode('n1', { role: 'x' });

  it('take none of them: other requests and another upload go on', async () => {
    await server.send('POST', '/v1/runs', { body: R('x', { run_id: 'stalled' }) });
    const claim = (await n1.claim()).body;
    const stalled = Array.from({ length: 10 }, (_, index) => {
      const open = openUpload(server.url + blobPath(claim, `out-${index}`), { 'mediator-lease': claim.lease.nonce });
      open.send(Buffer.alloc(300_000));
      return open;
    });
    await eventually('each has a chunk stored', async () => {
      const rows = await server.database.sql('SELECT DISTINCT upload_id FROM blob_chunks');
      return rows.length === 10;
    });
    expect((await upload(server, claim, 'whole', Buffer.alloc(1_000_000))).status).toBe(204);
    expect((await server.send('POST', '/v1/runs', { body: R('x', { run_id: 'waits' }) })).status).toBe(202);
    expect((await n1.advertise()).status).toBe(200);
    expect(
      await server.database.sql(
        "SELECT state FROM pg_stat_activity WHERE application_name = 'mediator' AND datname = current_database() AND state <> 'idle'",
      ),
    ).toEqual([]);
    for (const open of stalled) open.end();
    const answers = await Promise.all(stalled.map((open) => open.answer));
    expect(answers.map(({ status }) => status)).toEqual(Array(10).fill(204));
  });
});

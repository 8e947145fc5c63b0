import { createHash, randomBytes } from 'node:crypto';
import { afterEach, describe, expect, it } from '@jest/globals';
import { needs, R, step } from '../../support/contracts.js';
import { eventually } from '../../support/eventually.js';
import type { PlayedClaim } from '../../support/played-node.js';
import { hold } from '../../support/failpoints.js';
import { expectProblem } from '../../support/problem.js';
import { everything } from '../../support/stored.js';
import { blobPath, openUpload, put, upload } from '../../support/uploads.js';
import { cancelRunning } from '../../support/queue.js';
import { serverSuite } from '../../support/server-suite.js';

const LIMIT = 600_000;
const sha256 = (bytes: Buffer | string): string => createHash('sha256').update(bytes).digest('hex');

describe('the upload of an output', () => {
  const server = serverSuite({ tidy: cancelRunning, env: { MEDIATOR_MAX_BLOB_BYTES: String(LIMIT) } });
  const n1 = server.liveNode('n1', { role: 'x' });
  afterEach(async () => {
    expect(await server.database.sql('SELECT * FROM blobs WHERE published_at IS NULL')).toEqual([]);
  });
  const submit = async (run_id: string, steps: object[], more: object = {}): Promise<void> => {
    const body = { run_id, requires: [needs('x')], steps, ...more };
    expect((await server.send('POST', '/v1/runs', { body })).body).toMatchObject({ state: 'RUNNING' });
  };
  const begin = async (runId: string, more: Record<string, unknown> = {}): Promise<PlayedClaim> => {
    await submit(runId, [step('only', 'x', more)]);
    return (await n1.claim()).body;
  };
  /** The published uploads of a run with their bytes, read from the rows. */
  const uploads = async (runId: string): Promise<any[]> => {
    const rows = await server.database.sql<any>(
      `SELECT seq, attempt, name, media_type, size::int AS size, sha256,
              (SELECT string_agg(bytes, '' ORDER BY at) FROM blob_chunks c WHERE c.upload_id = b.upload_id) AS bytes,
              (SELECT count(*)::int FROM blob_chunks c WHERE c.upload_id = b.upload_id) AS chunks
         FROM blobs b WHERE run_id = $1 AND published_at IS NOT NULL ORDER BY upload_id`,
      [runId],
    );
    return rows;
  };
  const unpublished = (): Promise<object[]> =>
    server.database.sql('SELECT upload_id FROM blobs WHERE published_at IS NULL');
  const chunksOfUnpublished = async (): Promise<number> => {
    const [row] = await server.database.sql<{ chunks: number }>(
      'SELECT count(*)::int AS chunks FROM blob_chunks JOIN blobs USING (upload_id) WHERE published_at IS NULL',
    );
    return row!.chunks;
  };

  it('keeps the bytes, in chunks, with their type, size and sum', async () => {
    const claim = await begin('bytes', { out: ['image', 'report'] });
    const image = randomBytes(LIMIT);
    expect(await upload(server, claim, 'image', image)).toMatchObject({ status: 204, body: undefined });
    const text = '{"ok": no JSON';
    expect((await upload(server, claim, 'report', text, { type: 'application/json; charset=utf-8' })).status).toBe(204);
    expect((await upload(server, claim, 'not-promised', undefined, { type: 'text/plain' })).status).toBe(204);

    const [first, second, third] = await uploads('bytes');
    expect(first).toMatchObject({ name: 'image', media_type: 'application/octet-stream', size: LIMIT, attempt: 1 });
    expect(first.sha256).toBe(sha256(image));
    expect(image.equals(first.bytes)).toBe(true);
    expect(first.chunks).toBe(3);
    expect(second).toMatchObject({ media_type: 'application/json; charset=utf-8', size: text.length });
    expect(second.bytes.toString()).toBe(text);
    expect(third).toMatchObject({ name: 'not-promised', size: 0, sha256: sha256(''), bytes: null, chunks: 0 });
    expect((await n1.report(claim, { exit_code: 0, produced: ['not-promised'] })).body).toMatchObject({
      step_state: 'DONE',
      run_state: 'SUCCEEDED',
    });
  });

  it.each([undefined, '*/*', 'image/*', '*/*; q=0.8', 'application/x*y', '*/plain'])(
    'the media type %j is none: the bytes are application/octet-stream',
    async (type) => {
      const claim = await begin(`ranges-${String(type)}`.replaceAll(/[^\w-]/g, '-'));
      expect((await upload(server, claim, 'out', 'x', { type })).status).toBe(204);
      const { status, headers } = await server.send('GET', `/v1/runs/${claim.run_id}/blobs/out`);
      expect([status, headers.get('content-type')]).toEqual([200, 'application/octet-stream']);
    },
  );

  it('an asterisk in a parameter of the media type is no range', async () => {
    const claim = await begin('parameter');
    expect((await upload(server, claim, 'out', 'x', { type: 'text/plain; note=*' })).status).toBe(204);
    expect((await uploads('parameter'))[0].media_type).toBe('text/plain; note=*');
  });

  it('a body in pieces, whose sender waits to be asked for it, is taken', async () => {
    const claim = await begin('pieces');
    const headers = { 'mediator-lease': claim.lease.nonce, expect: '100-continue' };
    const open = openUpload(server.url + blobPath(claim, 'out'), headers);
    await open.continued;
    open.send('one, ');
    open.send('two');
    open.end();
    expect((await open.answer).status).toBe(204);
    expect((await uploads('pieces'))[0].bytes.toString()).toBe('one, two');
  });

  it('other routes take nothing but JSON, as before', async () => {
    const claim = await begin('others');
    for (const type of ['application/octet-stream', 'application/vnd.mediator.raw-body', 'text/plain']) {
      const response = await fetch(`${server.url}/v1/runs/others/steps/1/result`, {
        method: 'POST',
        headers: { 'content-type': type, 'mediator-lease': claim.lease.nonce },
        body: '{}',
      });
      expect(response.status).toBe(415);
    }
  });

  it('replaces an earlier upload of the same name in the same attempt, and of no other', async () => {
    await submit('loop', [step('only', 'x', { allow_failure: true, out: ['log'], loop: loopUntilZero })]);
    const first = (await n1.claim()).body;
    await upload(server, first, 'log', 'first');
    await upload(server, first, 'log', 'first, again', { attempt: 1 });
    await upload(server, first, 'other', 'other');
    expect((await n1.report(first, { exit_code: 1 })).body).toMatchObject({ rolled_back: true });
    const second = (await n1.claim()).body;
    expectProblem(await upload(server, second, 'log', 'late', { attempt: 1 }), 409, 'not_claimed');
    await upload(server, second, 'log', 'second', { attempt: 2 });
    expect((await uploads('loop')).map(({ attempt, name, bytes }) => [attempt, name, String(bytes)])).toEqual([
      [1, 'log', 'first, again'],
      [1, 'other', 'other'],
      [2, 'log', 'second'],
    ]);
    expect((await n1.report(second)).body).toMatchObject({ step_state: 'DONE' });
  });

  it('a promised output counts only where it was uploaded in this attempt', async () => {
    await submit('again', [step('only', 'x', { allow_failure: true, out: ['log'], loop: loopUntilZero })]);
    const first = (await n1.claim()).body;
    await upload(server, first, 'log', 'first');
    await n1.report(first, { exit_code: 1 });
    const second = (await n1.claim()).body;
    expect((await n1.report(second)).body).toMatchObject({ step_state: 'FAILED', run_state: 'FAILED' });
  });

  it('of two at once the one that was begun later stands, whichever ends first', async () => {
    const claim = await begin('two');
    const headers = { 'mediator-lease': claim.lease.nonce };
    const earlier = openUpload(server.url + blobPath(claim, 'out'), headers);
    await eventually('the first has begun', async () => (await unpublished()).length === 1);
    expect((await upload(server, claim, 'out', 'later')).status).toBe(204);
    earlier.send('earlier');
    earlier.end();
    expect((await earlier.answer).status).toBe(204);
    expect((await uploads('two')).map(({ bytes }) => String(bytes))).toEqual(['later']);
  });

  it('eight at once of one name: all are taken, one stands', async () => {
    const claim = await begin('eight');
    const bodies = Array.from({ length: 8 }, (_, index) => String(index).repeat(300_000));
    const answers = await Promise.all(bodies.map((body) => upload(server, claim, 'out', body)));
    expect(answers.map(({ status }) => status)).toEqual(Array(8).fill(204));
    const [only, ...others] = await uploads('eight');
    expect(others).toEqual([]);
    expect(bodies).toContain(only.bytes.toString());
  });

  describe('over the limit', () => {
    it('is 413 by what it promises, before anything of it is read', async () => {
      const claim = await begin('promised');
      const headers = { 'mediator-lease': claim.lease.nonce, 'content-length': String(LIMIT + 1) };
      const open = openUpload(server.url + blobPath(claim, 'image'), headers);
      expect(await open.answer).toMatchObject({ status: 413, code: 'too_large' });
      open.breakOff();
      expect(await uploads('promised')).toEqual([]);
    });

    it('is 413 where it promises nothing, and nothing of it is kept', async () => {
      const claim = await begin('endless');
      const open = openUpload(server.url + blobPath(claim, 'image'), { 'mediator-lease': claim.lease.nonce });
      open.send(Buffer.alloc(2 * LIMIT));
      expect(await open.answer).toMatchObject({ status: 413, code: 'too_large' });
      open.breakOff();
      expect(await uploads('endless')).toEqual([]);
      expect(await unpublished()).toEqual([]);
    });

    it('the caller who goes on sending hears of it, and may go on on the same connection', async () => {
      const claim = await begin('drained');
      const answer = await upload(server, claim, 'image', Buffer.alloc(30 * LIMIT));
      expectProblem(answer, 413, 'too_large');
      expect((await upload(server, claim, 'image', Buffer.alloc(LIMIT))).status).toBe(204);
    });
  });

  describe('broken off', () => {
    it('nothing is seen, and its rows are gone', async () => {
      const claim = await begin('broken', { out: ['image'] });
      const open = openUpload(server.url + blobPath(claim, 'image'), { 'mediator-lease': claim.lease.nonce });
      open.send(Buffer.alloc(300_000));
      await eventually('a chunk is stored', async () => (await chunksOfUnpublished()) === 1);
      expect(await uploads('broken')).toEqual([]);
      open.breakOff();
      await eventually('its rows are gone', async () => (await unpublished()).length === 0);
      expect(
        await server.database.sql(
          'SELECT FROM blob_chunks c WHERE NOT EXISTS (SELECT FROM blobs b WHERE b.upload_id = c.upload_id)',
        ),
      ).toEqual([]);
      expect((await n1.report(claim)).body).toMatchObject({ step_state: 'FAILED' });
    });

    it('what a crash has left behind is deleted by the reaper after an hour, also of a run that is over', async () => {
      const claim = await begin('crashed');
      for (const name of ['old', 'young']) {
        await server.database.sql(
          "INSERT INTO blobs (run_id, seq, attempt, name, media_type) VALUES ('crashed', 1, 1, $1, 'x/y')",
          [name],
        );
      }
      await server.database.sql(
        `INSERT INTO blob_chunks SELECT upload_id, 0, 'bytes' FROM blobs WHERE run_id = 'crashed'`,
      );
      await server.database.sql("UPDATE blobs SET started_at = started_at - interval '61 minutes' WHERE name = 'old'");
      await n1.report(claim);
      expect(await server.reap()).toMatchObject({ uploads: 1, errors: 0 });
      expect(await server.reap()).toMatchObject({ uploads: 0, errors: 0 });
      expect(
        await server.database.sql("SELECT name FROM blobs JOIN blob_chunks USING (upload_id) WHERE run_id = 'crashed'"),
      ).toEqual([{ name: 'young' }]);
      await server.database.sql("DELETE FROM blobs WHERE run_id = 'crashed'");
    });

    it.each([
      ['in its middle', (bytes: number) => bytes],
      ['before its end', () => 0],
    ])('one that is deleted %s, since it took too long, is told to begin again', async (_when, more) => {
      const runId = `slow-${more(1)}`;
      const claim = await begin(runId);
      const open = openUpload(server.url + blobPath(claim, 'out'), { 'mediator-lease': claim.lease.nonce });
      await eventually('it has begun', async () => (await unpublished()).length === 1);
      await server.database.sql("UPDATE blobs SET started_at = started_at - interval '61 minutes' WHERE run_id = $1", [
        runId,
      ]);
      expect(await server.reap()).toMatchObject({ uploads: 1, errors: 0 });
      open.send(Buffer.alloc(more(300_000)));
      open.end();
      expect(await open.answer).toMatchObject({ status: 503, code: 'unavailable' });
    });
  });

  describe('is refused', () => {
    it.each([
      ['without a lease', 'out', '', { lease: '' }],
      ['under a name that begins with a dot', '.out', '', {}],
      ['under a name with a space', 'a%20b', '', {}],
      ['under a name of 101 characters', 'a'.repeat(101), '', {}],
      ['with an attempt that is none', 'out', '?attempt=x', {}],
      ['with an empty attempt', 'out', '?attempt=', {}],
      ['with the attempt 0', 'out', '?attempt=0', {}],
      ['with a media type that is none', 'out', '', { type: 'png' }],
      ['with a media type that is too long', 'out', '', { type: `a/${'b'.repeat(300)}` }],
    ])('%s: 400', async (_what, name, query, { lease = 'n', type }: { lease?: string; type?: string }) => {
      const headers = { ...(lease && { 'mediator-lease': lease }), ...(type && { 'content-type': type }) };
      const answer = await put(`${server.url}/v1/runs/nowhere/steps/1/blobs/${name}${query}`, 'x', headers);
      expectProblem(answer, 400, 'invalid_request');
    });

    it('where there is no such run or step: 404, before anything else', async () => {
      const claim = await begin('here');
      const tooMuch = Buffer.alloc(LIMIT + 1);
      for (const wrong of [{ run_id: 'nowhere' }, { seq: 2 }, { seq: 'only' }, { seq: 0 }]) {
        expectProblem(await upload(server, { ...claim, ...wrong }, 'out', tooMuch), 404, 'not_found');
      }
    });

    it('where the run waits, or the step is not claimed: 409, before its size', async () => {
      const claim = await begin('holder');
      await server.send('POST', '/v1/runs', { body: R('x', { run_id: 'waits' }) });
      const tooMuch = Buffer.alloc(LIMIT + 1);
      expectProblem(await upload(server, { ...claim, run_id: 'waits' }, 'out', tooMuch), 409, 'stale_lease');
      expectProblem(await upload(server, claim, 'out', tooMuch, { lease: 'another' }), 409, 'stale_lease');
      await server.send('POST', '/v1/runs/waits/cancel');
      await server.send('POST', '/v1/runs/holder/cancel');
      await submit('steps', [step('one', 'x'), step('two', 'x')]);
      const one = (await n1.claim()).body;
      expectProblem(await upload(server, { ...one, seq: 2 }, 'out', tooMuch), 409, 'not_claimed');
      await n1.report(one);
      expectProblem(await upload(server, one, 'out', tooMuch), 409, 'not_claimed');
      expectProblem(await upload(server, one, 'out', tooMuch, { attempt: 2 }), 409, 'not_claimed');
    });
  });

  describe('C9 a late upload of a former holder changes nothing anywhere', () => {
    it('its run is over and its node belongs to the next run: 410, and 409 for the next', async () => {
      const former = await begin('former');
      await server.send('POST', '/v1/runs', { body: R('x', { run_id: 'next' }) });
      await server.send('POST', '/v1/runs/former/cancel');
      const next = (await n1.claim()).body;
      const stored = await everything(server.database);
      expectProblem(await upload(server, former, 'out', Buffer.alloc(LIMIT + 1)), 410, 'run_over');
      expectProblem(await upload(server, former, 'out', 'x', { lease: next.lease.nonce, attempt: 7 }), 410, 'run_over');
      expectProblem(await upload(server, next, 'out', 'x', { lease: former.lease.nonce }), 409, 'stale_lease');
      expect(await everything(server.database)).toEqual(stored);
    });

    it('another node of the same run, and another attempt: 409', async () => {
      const n2 = server.node('n2', [{ role: 'y' }]);
      await n2.advertise();
      const steps = [step('one', 'x'), step('other', 'y', { needs: [] })];
      await submit('both', steps, { requires: [needs('x'), needs('y')] });
      const [one, other] = [(await n1.claim()).body, (await n2.claim()).body];
      const stored = await everything(server.database);
      expectProblem(await upload(server, one, 'out', 'x', { lease: other.lease.nonce }), 409, 'not_claimed');
      expectProblem(await upload(server, one, 'out', 'x', { attempt: 2 }), 409, 'not_claimed');
      expect(await everything(server.database)).toEqual(stored);
    });

    it('it loses the step while it sends: nothing of it is seen', async () => {
      const claim = await begin('while-sending');
      const storing = hold('store-chunk.committed');
      const sending = upload(server, claim, 'out', 'too late');
      await storing.reached;
      await n1.report(claim);
      storing.letGo();
      expectProblem(await sending, 410, 'run_over');
      expect(await uploads('while-sending')).toEqual([]);
    });
  });
});

const loopUntilZero = { back_to: 'only', max: 3, until: { exit_code: 0 } };

import { describe, expect, it } from '@jest/globals';
import { answer, inbox, question, YES_OR_NO } from '../../support/asks.js';
import { needs, R, step } from '../../support/contracts.js';
import { expectProblem } from '../../support/problem.js';
import { cancelRunning, cancel, submit } from '../../support/queue.js';
import { serverSuite } from '../../support/server-suite.js';

describe('GET /v1/asks', () => {
  const server = serverSuite({ tidy: cancelRunning });
  for (const name of ['n1', 'n2', 'n3']) server.liveNode(name, { role: 'x' });

  const start = async (run_id: string, ...steps: object[]): Promise<void> => {
    expect((await submit(server, { run_id, requires: [needs('x')], steps })).status).toBe(201);
  };

  /** An upload of the run's first step, as if its node had made it; the bytes in chunks of this many. */
  const upload = async (runId: string, name: string, mediaType: string, body: Buffer, chunk = 7000): Promise<void> => {
    const [row] = await server.database.sql<{ upload_id: string }>(
      `INSERT INTO blobs (run_id, seq, attempt, name, media_type, published_at, size, sha256)
       SELECT $1, 1, coalesce(max(attempt), 0) + 1, $2, $3, clock_timestamp(), $4, repeat('0', 64) FROM blobs WHERE run_id = $1
       RETURNING upload_id`,
      [runId, name, mediaType, body.length],
    );
    for (let at = 0; at < body.length; at += chunk) {
      await server.database.sql('INSERT INTO blob_chunks (upload_id, at, bytes) VALUES ($1, $2, $3)', [
        row!.upload_id,
        at,
        body.subarray(at, at + chunk),
      ]);
    }
    // What is put there past the server makes it count anew.
    await server.database.sql('DELETE FROM run_bytes WHERE run_id = $1', [runId]);
  };

  it('shows a question with all that its contract says of it, and when it was asked', async () => {
    const ask = { prompt: 'Does the LED blink — or “not”?', answerers: ['p', 'q'], timeout_seconds: 90 };
    await start('whole', step('work', 'x', { needs: [] }), question('look', ask, { needs: [] }));
    const [item, ...others] = await inbox(server, 'q');
    expect(others).toEqual([]);
    expect(item).toEqual({
      run_id: 'whole',
      seq: 2,
      id: 'look',
      prompt: ask.prompt,
      schema: YES_OR_NO,
      answerers: ['p', 'q'],
      asked_at: expect.stringMatching(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/),
      deadline: expect.stringMatching(/Z$/),
      can_answer: true,
      shown: [],
    });
    expect(Date.parse(item.deadline) - Date.parse(item.asked_at)).toBe(90_000);
  });

  it('where nobody is named anybody may answer, and without a time limit there is no deadline', async () => {
    await start('anybody', question('look'));
    expect(await inbox(server, 'who-ever')).toMatchObject([{ can_answer: true, answerers: null, deadline: null }]);
    await start('named', question('look', { answerers: ['p'] }));
    // Everybody is operator here; that does not help who is not named.
    expect((await inbox(server, 'anonymous')).map((item) => item.can_answer)).toEqual([true, false]);
    expect((await inbox(server, 'p')).map((item) => item.can_answer)).toEqual([true, true]);
  });

  it('is in the order in which they were asked, page by page, while questions come and go', async () => {
    await start('c', question('c1'), question('c2'));
    await start('a', question('a1'), question('a2', {}, { needs: [] }));
    await start('b', question('b1'));
    await answer(server, 'c', 1);
    expect((await inbox(server)).map((item) => item.id)).toEqual(['a1', 'a2', 'b1', 'c2']);

    const first = await server.send('GET', '/v1/asks?limit=1');
    expect(first.body.items).toMatchObject([{ id: 'a1' }]);
    expect(first.headers.get('link')).toBe(`</v1/asks?limit=1&cursor=${first.body.next}>; rel="next"`);
    await answer(server, 'a', 1);
    const second = await server.send('GET', `/v1/asks?limit=2&cursor=${first.body.next}`);
    expect(second.body.items).toMatchObject([{ id: 'a2' }, { id: 'b1' }]);
    const last = await server.send('GET', `/v1/asks?limit=2&cursor=${second.body.next}`);
    expect(last.body).toMatchObject({ items: [{ id: 'c2' }], next: null });
    expect(last.headers.get('link')).toBeNull();
  });

  it.each([
    'x',
    '',
    'MjAyNi0wMy0wMiAwOToxNTowNC4xMjAzNDErMDB8NDI',
    'MjAyNi0wMy0wMiAwOToxNTowNC4xMjAzNDErMDB8NDI.AA',
    '.YQ',
  ])('a cursor that is none of its own (%j) is a 400, and so is a limit out of range', async (cursor) => {
    expectProblem(await server.send('GET', `/v1/asks?cursor=${cursor}`), 400, 'invalid_request');
    expectProblem(await server.send('GET', '/v1/asks?limit=201'), 400, 'invalid_request');
  });

  it('asks nothing for a run that waits', async () => {
    await server.node('n4', [{ role: 'one' }]).advertise();
    await submit(server, R('one', { run_id: 'holds' }));
    expect((await submit(server, { ...R('one', { run_id: 'waits' }), steps: [question('look')] })).status).toBe(202);
    expect(await inbox(server)).toEqual([]);
    await cancel(server, 'waits');
  });

  describe('shown', () => {
    const shows = (...names: string[]): object[] => [
      step('work', 'x', { needs: [], out: names }),
      question('look', { show: names }, { needs: [] }),
    ];
    const shown = async (): Promise<any[]> => (await inbox(server))[0].shown;

    it('the newest upload of each name in the order of the contract; what is not uploaded is left out', async () => {
      await start('shown', ...shows('log', 'photo', 'report', 'never'));
      await upload('shown', 'report', 'application/ld+json; charset=utf-8', Buffer.from('{"temperature":"41 °C"}'));
      await upload('shown', 'photo', 'image/png', Buffer.from([0x89, 0x50, 0x4e, 0x47]));
      await upload('shown', 'log', 'text/plain', Buffer.from('old'));
      await upload('shown', 'log', 'text/plain', Buffer.from('new'));
      await server.database.sql(
        "INSERT INTO blobs (run_id, seq, attempt, name, media_type) VALUES ('shown', 1, 9, 'log', 'text/plain')",
      );
      expect(await shown()).toEqual([
        { name: 'log', media_type: 'text/plain', size: 3, text: 'new' },
        { name: 'photo', media_type: 'image/png', size: 4 },
        {
          name: 'report',
          media_type: 'application/ld+json; charset=utf-8',
          size: 24,
          text: '{"temperature":"41 °C"}',
        },
      ]);
    });

    it('the head of a long text over many chunks, cut between two characters; nothing of what is no UTF-8', async () => {
      await start('heads', ...shows('long', 'empty', 'broken', 'exact'));
      const long = `${'x'.repeat(16 * 1024 - 1)}é${'y'.repeat(100_000)}`;
      await upload('heads', 'long', 'text/plain', Buffer.from(long), 1000);
      await upload('heads', 'empty', 'text/plain', Buffer.alloc(0));
      await upload('heads', 'broken', 'text/plain', Buffer.from([0x61, 0xff, 0x62]));
      await upload(
        'heads',
        'exact',
        'application/json',
        Buffer.from(JSON.stringify('z'.repeat(16 * 1024 - 2))),
        16_384,
      );
      expect(await shown()).toEqual([
        { name: 'long', media_type: 'text/plain', size: 116_385, text: 'x'.repeat(16 * 1024 - 1) },
        { name: 'empty', media_type: 'text/plain', size: 0, text: '' },
        { name: 'broken', media_type: 'text/plain', size: 3 },
        { name: 'exact', media_type: 'application/json', size: 16_384, text: JSON.stringify('z'.repeat(16_382)) },
      ]);
    });

    it('an answer that an earlier question took', async () => {
      await start(
        'earlier',
        question('first'),
        question('second', { show: ['verdict'] }, { out: ['again'], schema: { again: YES_OR_NO } }),
      );
      await answer(server, 'earlier', 1, { ok: false });
      expect(await shown()).toEqual([
        { name: 'verdict', media_type: 'application/json', size: 12, text: '{"ok":false}' },
      ]);
    });
  });
});

import { execFile } from 'node:child_process';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { afterAll, beforeAll, describe, expect, it, jest } from '@jest/globals';
import { bytesOf, get, sha256 } from '../../support/bytes.js';
import { R } from '../../support/contracts.js';
import type { TestMediator } from '../../support/mediator.js';
import { once } from '../../support/failpoints.js';
import { type PlayedRun, playRun, verify } from '../../support/record.js';
import { everything } from '../../support/stored.js';
import { upload, writeLog } from '../../support/uploads.js';
import { serverSuite } from '../../support/server-suite.js';

const run = promisify(execFile);
const TIME = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/;

// Runs other programs: tar, sha256sum, and the script that checks a record.
jest.setTimeout(30_000);

describe('the whole record of a run that is over', () => {
  const server = serverSuite();
  let folder: string;
  let played: PlayedRun;
  const top = (): string => join(folder, 'run-all');
  const readJson = async (file: string): Promise<any> => JSON.parse(await readFile(join(top(), file), 'utf8'));
  const download = async (from: TestMediator, runId = 'all'): Promise<Buffer> =>
    (await get(`${from.url}/v1/runs/${runId}/record`)).bytes;

  beforeAll(async () => {
    folder = await mkdtemp(join(tmpdir(), 'mediator-record-'));
    played = await playRun(server, 'all');
    await writeFile(join(folder, 'record.tar'), await download(server));
    await run('tar', ['-xf', 'record.tar'], { cwd: folder });
  });
  afterAll(async () => {
    await rm(folder, { recursive: true });
  });

  const FILES = [
    'blobs/1.1-image',
    'blobs/1.2-image',
    'blobs/1.3-image',
    'blobs/2.1-verdict',
    'blobs/3.1-empty',
    'blobs/3.1-report.json',
    'logs/1.1-step.log',
    'logs/1.2-step.log',
    'logs/1.3-step.log',
    'logs/1.3-trace.log',
    'manifest.json',
    'steps/1-build.json',
    'steps/2-look.json',
    'steps/3-flash.json',
    'verdict.json',
  ];

  it('C4 holds every file, in order, and sha256sum finds every sum right; the digest is that of SHA256SUMS', async () => {
    const listed = (await run('tar', ['-tf', 'record.tar'], { cwd: folder })).stdout.trim().split('\n');
    expect(listed).toEqual(['', ...FILES, 'SHA256SUMS'].map((file) => `run-all/${file}`));
    const { stdout } = await run('sha256sum', ['--check', '--strict', 'SHA256SUMS'], { cwd: top() });
    expect(stdout).toBe(FILES.map((file) => `${file}: OK\n`).join(''));

    const { record } = (await server.send('GET', '/v1/runs/all')).body;
    expect(record).toEqual({ state: 'SEALED', digest: `sha256:${sha256(await readFile(join(top(), 'SHA256SUMS')))}` });
    expect(await verify(join(folder, 'record.tar'), record.digest)).toEqual({
      code: 0,
      lines: [record.digest, 'OK'],
      error: '',
    });
  });

  it('C4 says its length and its digest beforehand, and 304 to who has it', async () => {
    const whole = await get(`${server.url}/v1/runs/all/record`);
    const etag = whole.headers.get('etag')!;
    expect(whole.headers.get('content-length')).toBe(String(whole.bytes.length));
    const head = await get(`${server.url}/v1/runs/all/record`, {}, { method: 'HEAD' });
    expect([head.status, head.headers.get('content-length')]).toEqual([200, String(whole.bytes.length)]);
    const known = await get(`${server.url}/v1/runs/all/record`, { 'if-none-match': etag });
    expect([known.status, known.headers.get('etag'), known.bytes.length]).toEqual([304, etag, 0]);
  });

  it('C4 C6 the logs and outputs are those of each attempt, byte for byte, and what was not published is not there', async () => {
    for (const [index, image] of played.images.entries()) {
      expect((await readFile(join(top(), `blobs/1.${index + 1}-image`))).equals(image)).toBe(true);
      expect(await readFile(join(top(), `logs/1.${index + 1}-step.log`), 'utf8')).toBe(`attempt ${index + 1}\n`);
    }
    expect((await readFile(join(top(), 'logs/1.3-trace.log'))).equals(played.longLog)).toBe(true);
    expect(await readFile(join(top(), 'blobs/3.1-empty'), 'utf8')).toBe('');
    expect(await readJson('blobs/2.1-verdict')).toEqual({ ok: true, note: 'ü' });
  });

  it('C4 C6 each step names its attempts, those that were rolled back too, and what each left', async () => {
    const built = await readJson('steps/1-build.json');
    expect(built.attempts.map(({ attempt, state, instance }: any) => [attempt, state, instance])).toEqual([
      [1, 'ROLLED_BACK', 'boot-1'],
      [2, 'ROLLED_BACK', 'boot-1'],
      [3, 'DONE', 'boot-1'],
    ]);
    expect(built.attempts.map(({ result }: any) => result.exit_code)).toEqual([1, 1, 0]);
    expect(built.outputs).toEqual(
      [1, 2, 3].map((attempt) => ({
        attempt,
        name: 'image',
        media_type: 'application/x-disk',
        size: 3_000 + attempt - 1,
        file: `blobs/1.${attempt}-image`,
      })),
    );
    expect(built.logs.at(-1)).toEqual({
      attempt: 3,
      name: 'trace',
      size: 300_000,
      cut: false,
      file: 'logs/1.3-trace.log',
    });
    expect(built.asks).toEqual([]);
    expect((await readJson('manifest.json')).waiting).toMatchObject({ reason: 'BUSY', promoted_by: ['result'] });
    expect((await readJson('verdict.json')).reason).toBe('succeeded');
  });

  it('C4 the question is there with its answer, who gave it and when', async () => {
    const { asks, attempts, outputs } = await readJson('steps/2-look.json');
    expect(asks).toEqual([
      {
        attempt: 1,
        state: 'ANSWERED',
        prompt: 'look?',
        output: 'verdict',
        schema: expect.objectContaining({ required: ['ok'] }),
        answerers: ['paula', 'otto'],
        show: ['image'],
        asked_at: expect.stringMatching(TIME),
        deadline: null,
        ended_at: expect.stringMatching(TIME),
        answer: { ok: true, note: 'ü' },
        answered_by: 'otto',
      },
    ]);
    expect(attempts).toMatchObject([{ attempt: 1, state: 'DONE' }]);
    expect(outputs).toMatchObject([{ name: 'verdict', file: 'blobs/2.1-verdict' }]);
  });

  it('C4 two downloads are the same bytes, also from a server that started later', async () => {
    const first = await download(server);
    const later = await server.database.start();
    expect([(await download(server)).equals(first), (await download(later)).equals(first)]).toEqual([true, true]);
  });

  it('C4 uploads are 410 from then on', async () => {
    expect((await upload(server, played.claim, 'image', 'late')).status).toBe(410);
    expect((await writeLog(server, played.claim, 'late')).status).toBe(410);
  });

  it('what ended a run that asked, without an answer, is told; a run that left nothing has a record all the same', async () => {
    const node = server.node('asker', [{ role: 'z' }]);
    await node.advertise();
    const steps = [
      { id: 'look', ask: { prompt: 'well?', timeout_seconds: 60 }, out: ['v'], schema: { v: { type: 'object' } } },
    ];
    await server.send('POST', '/v1/runs', { body: R('z', { run_id: 'unanswered', steps }) });
    await server.send('POST', '/v1/runs/unanswered/cancel');
    await writeFile(join(folder, 'unanswered.tar'), await download(server, 'unanswered'));
    expect((await verify(join(folder, 'unanswered.tar'))).code).toBe(0);
    await run('tar', ['-xf', 'unanswered.tar'], { cwd: folder });
    const { asks } = JSON.parse(await readFile(join(folder, 'run-unanswered/steps/1-look.json'), 'utf8'));
    expect(asks).toMatchObject([
      {
        state: 'CANCELLED',
        answerers: null,
        deadline: expect.stringMatching(TIME),
        ended_at: expect.stringMatching(TIME),
        answer: null,
        answered_by: null,
      },
    ]);
  });

  it('a seal that failed is made up for with the same bodies in it', async () => {
    const node = server.node('late', [{ role: 'late' }]);
    await node.advertise();
    await server.send('POST', '/v1/runs', { body: R('late', { run_id: 'late' }) });
    const { body: claim } = await node.claim();
    const log = bytesOf(300_000, 5);
    await writeLog(server, claim, log);
    once('seal.before-commit', () => {
      throw new Error('forced');
    });
    await node.report(claim);
    expect((await get(`${server.url}/v1/runs/late/record`)).status).toBe(409);
    expect((await server.reap()).sealed).toBe(1);
    await writeFile(join(folder, 'late.tar'), await download(server, 'late'));
    expect((await verify(join(folder, 'late.tar'))).code).toBe(0);
    await run('tar', ['-xf', 'late.tar'], { cwd: folder });
    expect((await readFile(join(folder, 'run-late/logs/1.1-step.log'))).equals(log)).toBe(true);
  });

  // The rows of the run `open` are what a statement could move into the closed record.
  it.each([
    ['UPDATE asks', "UPDATE asks SET answer = '{}' WHERE run_id = 'all'"],
    ['UPDATE asks of another run into it', "UPDATE asks SET run_id = 'all', seq = 3 WHERE run_id = 'open'"],
    [
      'INSERT asks',
      `INSERT INTO asks (run_id, seq, attempt, prompt, output, schema, show) VALUES ('all', 2, 2, '?', 'v', '{}', '{}')`,
    ],
    ['DELETE asks', "DELETE FROM asks WHERE run_id = 'all'"],
    ['UPDATE blobs', "UPDATE blobs SET media_type = 'text/html' WHERE run_id = 'all' AND seq = 1"],
    [
      'UPDATE blobs: publish what was not',
      "UPDATE blobs SET published_at = now(), size = 4, sha256 = repeat('0', 64) WHERE run_id = 'all' AND published_at IS NULL",
    ],
    ['UPDATE blobs of another run into it', "UPDATE blobs SET run_id = 'all', seq = 3 WHERE run_id = 'open'"],
    [
      'INSERT blobs',
      `INSERT INTO blobs (run_id, seq, attempt, name, media_type, published_at, size, sha256)
       VALUES ('all', 3, 1, 'more', 'text/plain', now(), 0, repeat('0', 64))`,
    ],
    [
      'INSERT blobs, unpublished',
      "INSERT INTO blobs (run_id, seq, attempt, name, media_type) VALUES ('all', 3, 1, 'm', 't')",
    ],
    ['DELETE blobs', "DELETE FROM blobs WHERE run_id = 'all' AND published_at IS NOT NULL"],
    [
      'UPDATE blob_chunks',
      "UPDATE blob_chunks SET bytes = 'x' WHERE upload_id IN (SELECT upload_id FROM blobs WHERE run_id = 'all' AND published_at IS NOT NULL)",
    ],
    [
      'INSERT blob_chunks',
      "INSERT INTO blob_chunks SELECT upload_id, 9999999, 'x' FROM blobs WHERE run_id = 'all' AND name = 'image'",
    ],
    [
      'DELETE blob_chunks',
      "DELETE FROM blob_chunks WHERE upload_id IN (SELECT upload_id FROM blobs WHERE run_id = 'all' AND published_at IS NOT NULL)",
    ],
    ['UPDATE logs', "UPDATE logs SET size = 0 WHERE run_id = 'all'"],
    [
      'UPDATE logs of another run into it',
      "UPDATE logs SET run_id = 'all', name = 'moved' WHERE run_id = 'open' AND name = 'empty'",
    ],
    ['INSERT logs', "INSERT INTO logs (run_id, seq, attempt, name) VALUES ('all', 1, 1, 'more')"],
    ['DELETE logs', "DELETE FROM logs WHERE run_id = 'all'"],
    ['UPDATE log_chunks', "UPDATE log_chunks SET bytes = 'x' WHERE run_id = 'all'"],
    [
      'UPDATE log_chunks of another run into it',
      "UPDATE log_chunks SET run_id = 'all', at = 99999999 WHERE run_id = 'open'",
    ],
    ['INSERT log_chunks', "INSERT INTO log_chunks VALUES ('all', 1, 1, 'step', 9999999, 'x')"],
    ['DELETE log_chunks', "DELETE FROM log_chunks WHERE run_id = 'all'"],
  ])('C4 %s by SQL is refused', async (_what, statement) => {
    if ((await server.send('GET', '/v1/runs/open')).status === 404) {
      const node = server.node('open', [{ role: 'open' }]);
      await node.advertise();
      await server.send('POST', '/v1/runs', { body: R('open', { run_id: 'open' }) });
      const { body: claim } = await node.claim();
      await upload(server, claim, 'image', 'x');
      await writeLog(server, claim, 'x');
      await server.database.sql(
        `INSERT INTO asks (run_id, seq, attempt, state, prompt, output, schema, show, ended_at)
         VALUES ('open', 1, 9, 'CANCELLED', '?', 'v', '{}', '{}', now())`,
      );
      await server.database.sql("INSERT INTO logs (run_id, seq, attempt, name) VALUES ('open', 1, 1, 'empty')");
    }
    const stored = await everything(server.database);
    await expect(server.database.sql(statement)).rejects.toThrow(/the record of run all is closed/);
    expect(await everything(server.database)).toEqual(stored);
  });

  it('what was not published may be swept away afterwards: the record stays as it is', async () => {
    const before = await download(server);
    await server.database.sql("DELETE FROM blobs WHERE run_id = 'all' AND published_at IS NULL");
    expect((await download(server)).equals(before)).toBe(true);
  });

  it('a record whose bodies were purged while it is asked for is 404, not a part of it', async () => {
    await server.database.sql(
      `WITH gone AS (SELECT set_config('mediator.purge', 'late', true)) DELETE FROM log_chunks USING gone WHERE run_id = 'late'`,
    );
    await server.database.sql(
      `WITH gone AS (SELECT set_config('mediator.purge', 'late', true)) DELETE FROM logs USING gone WHERE run_id = 'late'`,
    );
    const answer = await server.send('GET', '/v1/runs/late/record');
    expect([answer.status, answer.body.code]).toEqual([404, 'not_found']);
  });
});

import { execFile } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { join } from 'node:path';
import { extract, pack } from 'tar-stream';
import { bytesOf } from './bytes.js';
import { needs, R, step } from './contracts.js';
import { answer, question } from './asks.js';
import type { TestMediator } from './mediator.js';
import { upload, writeLog } from './uploads.js';

/** A file, or whatever else, in a tar. */
export interface TarFile {
  name: string;
  type?: 'file' | 'directory' | 'symlink' | 'link';
  linkname?: string;
  body: Buffer;
}

export async function readTar(tar: Buffer): Promise<TarFile[]> {
  const files: TarFile[] = [];
  const reader = extract();
  reader.on('entry', ({ name, type }, body, next) => {
    const pieces: Buffer[] = [];
    body.on('data', (piece) => pieces.push(piece as Buffer));
    body.on('end', () => {
      files.push({ name, type: type as TarFile['type'], body: Buffer.concat(pieces) });
      next();
    });
  });
  reader.end(tar);
  await once(reader, 'finish');
  return files;
}

export async function writeTar(files: TarFile[]): Promise<Buffer> {
  const tar = pack();
  for (const { body, ...header } of files) tar.entry(header, body);
  tar.finalize();
  const pieces: Buffer[] = [];
  for await (const piece of tar) pieces.push(piece as Buffer);
  return Buffer.concat(pieces);
}

/** What the script that checks a record says of it, and its exit code. */
export function verify(...args: string[]): Promise<{ code: number; lines: string[]; error: string }> {
  const script = join(process.cwd(), 'scripts/verify-record.mjs');
  return new Promise((resolve) => {
    execFile(process.execPath, [script, ...args], (error, stdout, stderr) => {
      const lines = stdout.split('\n').slice(0, -1);
      resolve({ code: error === null ? 0 : Number(error.code), lines, error: stderr });
    });
  });
}

/** What was sent in the run that `playRun` plays. */
export interface PlayedRun {
  images: Buffer[];
  longLog: Buffer;
  /** The lease that it held last. */
  claim: any;
}

/**
 * A run with everything that a record can hold: it waited, went round a loop twice, wrote logs and uploaded outputs in
 * each attempt, asked a person, and left an upload that was never published.
 */
export async function playRun(server: TestMediator, runId: string): Promise<PlayedRun> {
  const [x, y] = [`${runId}-x`, `${runId}-y`];
  const [n1, n2] = [server.node(x, [{ role: 'x' }]), server.node(y, [{ role: 'y' }])];
  n1.instance = 'boot-1';
  await n1.advertise();
  await n2.advertise();
  await server.send('POST', '/v1/runs', { body: R('x', { run_id: `before-${runId}` }) });
  const loop = { back_to: 'build', max: 3, until: { exit_code: 0 } };
  const contract = {
    run_id: runId,
    requires: [needs('x'), needs('y')],
    steps: [
      step('build', 'x', { out: ['image'], loop }),
      question('look', { show: ['image'], answerers: ['paula', 'otto'] }, { release: ['x'] }),
      step('flash', 'y', { in: ['image'], out: ['report.json'] }),
    ],
  };
  const submitted = { body: contract, headers: { 'mediator-principal': 'paula' } };
  expectStatus(await server.send('POST', '/v1/runs', submitted), 202);
  await n1.work();
  const images: Buffer[] = [];
  const longLog = bytesOf(300_000, 3);
  for (const [index, exit_code] of [1, 1, 0].entries()) {
    const { body: claim } = await n1.claim();
    const image = bytesOf(3_000 + index, index + 1);
    images.push(image);
    expectStatus(await upload(server, claim, 'image', image, { type: 'application/x-disk' }), 204);
    expectStatus(await writeLog(server, claim, `attempt ${index + 1}\n`), 204);
    if (exit_code === 0) expectStatus(await writeLog(server, claim, longLog, 'name=trace'), 204);
    expectStatus(await n1.report(claim, { exit_code, produced: ['image'] }), 200);
  }
  expectStatus(await answer(server, runId, 2, { ok: true, note: 'ü' }, 'otto'), 200);
  const { body: claim } = await n2.claim();
  expectStatus(await upload(server, claim, 'report.json', '{}', { type: 'application/json' }), 204);
  expectStatus(await upload(server, claim, 'empty', ''), 204);
  await server.database.sql(
    `WITH upload AS (INSERT INTO blobs (run_id, seq, attempt, name, media_type)
                     VALUES ($1, 3, 1, $2, 'text/plain') RETURNING upload_id)
     INSERT INTO blob_chunks SELECT upload_id, 0, 'half' FROM upload`,
    [runId, `unpublished-${randomUUID()}`],
  );
  expectStatus(await n2.report(claim), 200);
  return { images, longLog, claim };
}

function expectStatus(given: { status: number; body: unknown }, status: number): void {
  if (given.status !== status) throw new Error(`${given.status} instead of ${status}: ${JSON.stringify(given.body)}`);
}

import { Injectable } from '@nestjs/common';
import { type LogAppend, logAppend, runFullMarker } from '../domain/log-append.js';
import { Config } from '../platform/config/config.js';
import { Database } from '../platform/database/database.js';
import type { Tx } from '../platform/database/queryable.js';
import { bodyChunks } from '../platform/http/body-chunks.js';
import { Problem } from '../platform/http/problem.js';
import type { RawBodyOf } from '../platform/http/raw-body.js';
import type { LogKey } from '../records/record-bodies.sql.js';
import { MOST_NAMES, tooManyNames } from './begin-upload.js';
import { fenceUpload } from './fence-upload.js';
import type { Upload } from './fence-upload.sql.js';
import { appendLog, insertLog, type LogNow, mayNameLog, readLog } from './logs.sql.js';
import { OpenUploads } from './open-uploads.js';
import { lockRunRoom, openRunBytes } from './run-bytes.sql.js';
import { CHUNK_BYTES } from './store-body.js';

/** A log that is written as the program speaks is seen by its followers this much later, at most. */
const LINGER_MS = 100;
const NOTHING = Buffer.alloc(0);

/** Takes bytes of a log as they come. What was taken stays, also where the body breaks off: the caller goes on from there. */
@Injectable()
export class WriteLog {
  constructor(
    private readonly database: Database,
    private readonly config: Config,
    private readonly uploads: OpenUploads,
  ) {}

  /** Gives the size that the log has then. */
  write(log: Upload, offset: number | undefined, body: RawBodyOf): Promise<number> {
    return this.uploads.admit(log, () => this.#take(log, offset, body));
  }

  async #take(log: Upload, offset: number | undefined, body: RawBodyOf): Promise<number> {
    let at = offset;
    let taken: { attempt: number; size: number } | undefined;
    const take = async (chunk: Buffer): Promise<number> => {
      const attempt = taken?.attempt ?? log.attempt;
      taken = await takeLogChunk(this.database, { ...log, attempt }, at, chunk, this.config);
      if (at !== undefined) at += chunk.length;
      return taken.size;
    };
    await this.uploads.watch(log, body.bytes, async (ended) => {
      const options = { lingerMs: LINGER_MS, pauseSeconds: this.config.bodyPauseSeconds, ended };
      for await (const chunk of bodyChunks(body.bytes, CHUNK_BYTES, options)) await take(chunk);
    });
    return taken?.size ?? take(NOTHING);
  }
}

export interface TakenChunk {
  attempt: number;
  /** Of the log, in bytes. */
  size: number;
}

/** Appends one chunk to a log at an offset (undefined: at its end), in one short transaction. */
function takeLogChunk(
  database: Database,
  upload: Upload,
  offset: number | undefined,
  chunk: Buffer,
  { maxLogBytes, maxRunBytes }: Pick<Config, 'maxLogBytes' | 'maxRunBytes'>,
): Promise<TakenChunk> {
  return database.transaction('append-log', async (tx) => {
    const { attempt } = await fenceUpload(tx, upload);
    const log = { run_id: upload.run_id, seq: upload.seq, attempt, name: upload.name };
    const begun = await tx.ask(readLog(log));
    if (begun === undefined) await beginLog(tx, log);
    const now = begun ?? { size: 0, cut: false };
    let appended = logAppend(now, offset, chunk, maxLogBytes);
    if (appended === undefined) throw offsetGap(now.size, offset);
    const { bytes, cut } = appended;
    if (bytes.length === 0) return { attempt, size: now.size };
    if (!(await tx.ask(appendLog(log, now.size, bytes, cut, maxRunBytes)))) {
      appended = await appendWhatFits(tx, log, now, bytes, { maxLogBytes, maxRunBytes });
    }
    tx.notify('logs');
    return { attempt, size: now.size + appended.bytes.length };
  });
}

async function beginLog(tx: Tx, log: LogKey): Promise<void> {
  const [mayName] = await tx.ask(mayNameLog(log, MOST_NAMES), openRunBytes(log.run_id));
  if (!mayName) throw tooManyNames('logs');
  tx.send(insertLog(log));
}

/** What its run has no room for is cut off, as what is over the limit of a log is. */
async function appendWhatFits(
  tx: Tx,
  log: LogKey,
  now: LogNow,
  bytes: Buffer,
  { maxLogBytes, maxRunBytes }: Pick<Config, 'maxLogBytes' | 'maxRunBytes'>,
): Promise<LogAppend> {
  await tx.ask(openRunBytes(log.run_id));
  const room = await tx.ask(lockRunRoom(log.run_id, maxRunBytes));
  const limit = Math.min(maxLogBytes, now.size + room);
  const fitting = logAppend(now, undefined, bytes, limit, runFullMarker(maxRunBytes))!;
  await tx.ask(appendLog(log, now.size, fitting.bytes, fitting.cut, Number.MAX_SAFE_INTEGER));
  return fitting;
}

function offsetGap(size: number, offset: number | undefined): Problem {
  return new Problem('offset_gap', `the log has ${size} bytes, and the offset is ${offset}`, {
    headers: { 'Upload-Offset': String(size) },
  });
}

import { logAppend } from '../domain/log-append.js';
import type { Database } from '../platform/database/database.js';
import { Problem } from '../platform/http/problem.js';
import { appendLog, insertLog, readLog } from '../records/append-log.sql.js';
import { fenceUpload, type Upload } from './fence-upload.js';

export interface TakenChunk {
  attempt: number;
  /** Of the log, in bytes. */
  size: number;
}

/** Appends one chunk to a log at an offset (undefined: at its end), in one short transaction. */
export function takeLogChunk(
  database: Database,
  upload: Upload,
  offset: number | undefined,
  chunk: Buffer,
  maxBytes: number,
): Promise<TakenChunk> {
  return database.transaction('append-log', async (tx) => {
    const attempt = await fenceUpload(tx, upload);
    const log = { run_id: upload.run_id, seq: upload.seq, attempt, name: upload.name };
    const begun = await readLog(tx, log);
    if (begun === undefined) await insertLog(tx, log);
    const now = begun ?? { size: 0, cut: false };
    const appended = logAppend(now, offset, chunk, maxBytes);
    if (appended === undefined) throw offsetGap(now.size, offset);
    const { bytes, cut } = appended;
    if (bytes.length > 0) {
      await appendLog(tx, log, now.size, bytes, cut);
      tx.hint('logs');
    }
    return { attempt, size: now.size + bytes.length };
  });
}

function offsetGap(size: number, offset: number | undefined): Problem {
  return new Problem('offset_gap', `the log has ${size} bytes, and the offset is ${offset}`, {
    headers: { 'Upload-Offset': String(size) },
  });
}

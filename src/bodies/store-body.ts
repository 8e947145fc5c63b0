import { createHash } from 'node:crypto';
import type { IncomingMessage } from 'node:http';
import type { Config } from '../platform/config/config.js';
import type { Database } from '../platform/database/database.js';
import { refusal } from '../platform/database/refusals.js';
import { bodyChunks } from '../platform/http/body-chunks.js';
import { unavailable } from '../platform/http/problem.filter.js';
import { sqlState } from '../platform/sessions/faults.js';
import { runTooLarge, tooLarge } from './begin-upload.js';
import { countBytes } from './run-bytes.sql.js';
import { insertBlobChunk, type BegunUpload } from './uploads.sql.js';

/** Large enough that a commit for each costs little, small enough that many uploads at once do not fill the memory. */
export const CHUNK_BYTES = 256 * 1024;
const FOREIGN_KEY_VIOLATION = '23503';

export type StoreLimits = Pick<Config, 'maxBlobBytes' | 'maxRunBytes' | 'bodyPauseSeconds'>;

export interface StoredBody {
  size: number;
  sha256: string;
}

/**
 * Stores a body chunk by chunk as it comes, each in a transaction of its own: a connection is held only while a chunk is
 * written, never while the caller is waited for. Throws too_large as soon as it is, or its run would be.
 */
export async function storeBody(
  database: Database,
  upload: BegunUpload,
  body: IncomingMessage,
  { maxBlobBytes, maxRunBytes, bodyPauseSeconds: pauseSeconds }: StoreLimits,
  ended: AbortSignal,
): Promise<StoredBody> {
  const hash = createHash('sha256');
  let size = 0;
  for await (const chunk of bodyChunks(body, CHUNK_BYTES, { pauseSeconds, ended })) {
    const at = size;
    size += chunk.length;
    if (size > maxBlobBytes) throw tooLarge(maxBlobBytes);
    hash.update(chunk);
    await storeChunk(database, upload, at, chunk, maxRunBytes);
  }
  return { size, sha256: hash.digest('hex') };
}

/** In one round trip: each statement fails by itself where it must not happen. */
async function storeChunk(
  database: Database,
  { upload_id, run_id }: BegunUpload,
  at: number,
  chunk: Buffer,
  maxRunBytes: number,
): Promise<void> {
  try {
    await database.transaction('store-chunk', (tx) => {
      tx.send(insertBlobChunk(upload_id, at, chunk));
      tx.send(countBytes(run_id, chunk.length, maxRunBytes));
      return Promise.resolve();
    });
  } catch (error) {
    if (refusal(error) === 'run_full') throw runTooLarge(maxRunBytes);
    if (sqlState(error) !== FOREIGN_KEY_VIOLATION) throw error;
    throw unavailable('the upload took so long that it was given up; send it again');
  }
}

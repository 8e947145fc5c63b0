import { createHash } from 'node:crypto';
import type { IncomingMessage } from 'node:http';
import type { Database } from '../platform/database/database.js';
import { sqlState } from '../platform/database/faults.js';
import { bodyChunks } from '../platform/http/body-chunks.js';
import { unavailable } from '../platform/http/problem.filter.js';
import { insertBlobChunk } from '../records/insert-blob-chunk.sql.js';
import { tooLarge } from './begin-upload.js';

/** Large enough that a commit for each costs little, small enough that many uploads at once do not fill the memory. */
export const CHUNK_BYTES = 256 * 1024;
const FOREIGN_KEY_VIOLATION = '23503';

export interface StoredBody {
  size: number;
  sha256: string;
}

/**
 * Stores a body chunk by chunk as it comes, each in a transaction of its own: a connection is held only while a chunk is
 * written, never while the caller is waited for. Throws too_large as soon as it is.
 */
export async function storeBody(
  database: Database,
  uploadId: string,
  body: IncomingMessage,
  maxBytes: number,
  pauseSeconds: number,
): Promise<StoredBody> {
  const hash = createHash('sha256');
  let size = 0;
  for await (const chunk of bodyChunks(body, CHUNK_BYTES, { pauseSeconds })) {
    const at = size;
    size += chunk.length;
    if (size > maxBytes) throw tooLarge(maxBytes);
    hash.update(chunk);
    await storeChunk(database, uploadId, at, chunk);
  }
  return { size, sha256: hash.digest('hex') };
}

async function storeChunk(database: Database, uploadId: string, at: number, chunk: Buffer): Promise<void> {
  try {
    await database.transaction('store-chunk', (tx) => insertBlobChunk(tx, uploadId, at, chunk));
  } catch (error) {
    if (sqlState(error) !== FOREIGN_KEY_VIOLATION) throw error;
    throw unavailable('the upload took so long that it was given up; send it again');
  }
}

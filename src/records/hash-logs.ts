import { createHash } from 'node:crypto';
import type { Queryable } from '../platform/database/queryable.js';
import { inPieces } from './bodies/in-pieces.js';
import { readLogBytes } from './bodies/read-log-bytes.sql.js';
import type { StoredLog } from './read-bodies.sql.js';
import { logPath } from './record-paths.js';

/** The sums of the logs of a closed record, by path. They grew in pieces, so they are read once more, piece by piece. */
export async function hashLogs(database: Queryable, runId: string, logs: StoredLog[]): Promise<Map<string, string>> {
  const sums = new Map<string, string>();
  for (const log of logs) {
    const hash = createHash('sha256');
    const key = { run_id: runId, ...log };
    const pieces = inPieces(0, log.size, (from, to) => readLogBytes(database, key, from, to));
    for await (const piece of pieces) hash.update(piece);
    sums.set(logPath(log), hash.digest('hex'));
  }
  return sums;
}

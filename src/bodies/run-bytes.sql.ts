import { type Read, read, type Write, write } from '../platform/database/statement.js';

/*
 * How many bytes a run stores: published outputs, uploads under way, logs. Each statement that adds or takes away bytes
 * counts them in its own transaction. The row is locked after those of uploads and logs, and for a moment only: chunks of
 * uploads are counted without the lock of the run.
 */

/** Begins to count the (locked) run, where that has not begun; gives what it stores. */
export function openRunBytes(runId: string): Write<number> {
  return write({
    name: 'bodies.open-run-bytes',
    text: `
     WITH opened AS (
       INSERT INTO run_bytes (run_id, bytes)
       SELECT $1, (SELECT coalesce(sum(b.size), 0) FROM blobs b WHERE b.run_id = $1 AND b.published_at IS NOT NULL)
                + (SELECT coalesce(sum(l.size), 0) FROM logs l WHERE l.run_id = $1)
        WHERE NOT EXISTS (SELECT FROM run_bytes WHERE run_id = $1)
       RETURNING bytes)
     SELECT bytes::float8 AS bytes FROM opened UNION ALL SELECT bytes::float8 FROM run_bytes WHERE run_id = $1`,
    params: [runId],
    rows: 'any',
    as: (rows: { bytes: number }[]) => rows[0]!.bytes,
  });
}

/** As a part of a statement: counts the bytes $2 of the run $1 where it may store them, at most $3; gives its row then. */
export const COUNT_BYTES = `/* bodies.count-bytes */
  UPDATE run_bytes SET bytes = bytes + $2::bigint WHERE run_id = $1 AND bytes + $2::bigint <= $3::bigint RETURNING run_id`;

/** Counts bytes that are being stored; a run that may not store so many ends the transaction (MD001). */
export function countBytes(runId: string, bytes: number, maxRunBytes: number): Write<void> {
  return write({
    name: 'bodies.count-or-refuse',
    text: COUNT_BYTES,
    params: [runId, bytes, maxRunBytes],
    otherwise: 'run_full',
  });
}

/** How many bytes more the run may store; until the commit nobody else takes of them. */
export function lockRunRoom(runId: string, maxRunBytes: number): Read<number> {
  return read({
    name: 'bodies.lock-run-bytes',
    text: 'SELECT bytes::float8 AS bytes FROM run_bytes WHERE run_id = $1 FOR UPDATE',
    params: [runId],
    as: (rows: { bytes: number }[]) => Math.max(0, maxRunBytes - rows[0]!.bytes),
  });
}

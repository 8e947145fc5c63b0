import { type Read, read } from '../platform/database/statement.js';

export interface LogKey {
  run_id: string;
  seq: number;
  attempt: number;
  name: string;
}

/** A published upload. */
export interface StoredBlob {
  upload_id: string;
  seq: number;
  attempt: number;
  name: string;
  media_type: string;
  size: number;
  sha256: string;
}

export interface StoredLog {
  seq: number;
  attempt: number;
  name: string;
  size: number;
  cut: boolean;
}

/** The bodies that belong to a run's record, without their bytes. */
export interface Bodies {
  blobs: StoredBlob[];
  logs: StoredLog[];
}

/** What the nodes, and people, have left in a run. An upload that was not published is no part of it. */
export function readBodies(runId: string): Read<Bodies> {
  return read({
    name: 'records.read-bodies',
    text: `
     SELECT coalesce((
              SELECT json_agg(json_build_object(
                       'upload_id', b.upload_id::text, 'seq', b.seq, 'attempt', b.attempt, 'name', b.name,
                       'media_type', b.media_type, 'size', b.size, 'sha256', b.sha256) ORDER BY b.seq, b.attempt, b.name)
                FROM blobs b WHERE b.run_id = $1 AND b.published_at IS NOT NULL), '[]') AS blobs,
            coalesce((
              SELECT json_agg(json_build_object(
                       'seq', l.seq, 'attempt', l.attempt, 'name', l.name, 'size', l.size,
                       'cut', l.cut) ORDER BY l.seq, l.attempt, l.name)
                FROM logs l WHERE l.run_id = $1), '[]') AS logs`,
    params: [runId],
    as: (rows: Bodies[]) => rows[0]!,
  });
}

/** The bytes of a log from `from` to before `to`, as far as they are there. */
export function readLogBytes({ run_id, seq, attempt, name }: LogKey, from: number, to: number): Read<Uint8Array> {
  return read({
    name: 'records.read-log-bytes',
    text: `
     SELECT string_agg(substring(c.bytes FROM greatest($5::bigint - c.at, 0)::int + 1
                         FOR greatest(least(c.at + length(c.bytes), $6::bigint) - greatest(c.at, $5), 0)::int),
                       ''::bytea ORDER BY c.at) AS bytes
       FROM log_chunks c
      WHERE (c.run_id, c.seq, c.attempt, c.name) = ($1, $2, $3, $4) AND c.at < $6
        AND c.at >= (SELECT max(f.at) FROM log_chunks f
                      WHERE (f.run_id, f.seq, f.attempt, f.name) = ($1, $2, $3, $4) AND f.at <= $5)`,
    params: [run_id, seq, attempt, name, from, to],
    as: (rows: { bytes: Buffer | null }[]) => rows[0]?.bytes ?? new Uint8Array(),
  });
}

/** The bytes of an upload from `from` to before `to`, as far as they are there. */
export function readBlobBytes(uploadId: string, from: number, to: number): Read<Uint8Array> {
  return read({
    name: 'records.read-blob-bytes',
    text: `
     SELECT string_agg(substring(c.bytes FROM greatest($2::bigint - c.at, 0)::int + 1
                         FOR greatest(least(c.at + length(c.bytes), $3::bigint) - greatest(c.at, $2), 0)::int),
                       ''::bytea ORDER BY c.at) AS bytes
       FROM blob_chunks c
      WHERE c.upload_id = $1 AND c.at < $3
        AND c.at >= (SELECT max(f.at) FROM blob_chunks f WHERE f.upload_id = $1 AND f.at <= $2)`,
    params: [uploadId, from, to],
    as: (rows: { bytes: Buffer | null }[]) => rows[0]?.bytes ?? new Uint8Array(),
  });
}

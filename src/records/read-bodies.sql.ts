import type { Queryable } from '../platform/database/queryable.js';

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
export async function readBodies(database: Queryable, runId: string): Promise<Bodies> {
  const { rows } = await database.query<Bodies>(
    `/* records.read-bodies */
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
    [runId],
  );
  return rows[0]!;
}

import type { Tx } from '../platform/database/queryable.js';

export interface NewUpload {
  run_id: string;
  seq: number;
  attempt: number;
  name: string;
  media_type: string;
  /** Whether its step promises the name; else nobody does. */
  promised: boolean;
}

/** Whether a step may upload under this name, which nobody promises: it has used it before, or not `most` others. */
export async function mayNameUpload(
  tx: Tx,
  { run_id, seq, name }: Pick<NewUpload, 'run_id' | 'seq' | 'name'>,
  most: number,
): Promise<boolean> {
  const { rows } = await tx.query<{ may: boolean }>(
    `/* records.may-name-upload */
     SELECT count(DISTINCT name) < $4 OR coalesce(bool_or(name = $3), false) AS may
       FROM blobs WHERE run_id = $1 AND seq = $2 AND promised IS FALSE`,
    [run_id, seq, name, most],
  );
  return rows[0]!.may;
}

/** Begins an upload that nobody sees yet; gives its number. */
export async function insertUpload(
  tx: Tx,
  { run_id, seq, attempt, name, media_type, promised }: NewUpload,
): Promise<{ upload_id: string }> {
  const { rows } = await tx.query<{ upload_id: string }>(
    `/* records.insert-upload */
     INSERT INTO blobs (run_id, seq, attempt, name, media_type, promised)
     VALUES ($1, $2, $3, $4, $5, $6) RETURNING upload_id`,
    [run_id, seq, attempt, name, media_type, promised],
  );
  return rows[0]!;
}

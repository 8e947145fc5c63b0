import type { Tx, Queryable } from '../platform/database/queryable.js';

export interface BegunUpload extends NewUpload {
  upload_id: string;
}

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
    `/* bodies.may-name-upload */
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
    `/* bodies.insert-upload */
     INSERT INTO blobs (run_id, seq, attempt, name, media_type, promised)
     VALUES ($1, $2, $3, $4, $5, $6) RETURNING upload_id`,
    [run_id, seq, attempt, name, media_type, promised],
  );
  return rows[0]!;
}

/**
 * Adds bytes to an upload that is not published; a foreign key violation says that it is not there any more.
 * Its commit does not wait for the disk: until the upload is published a crash may take all of it, and the commit that
 * publishes it does wait, for everything that was written before it too.
 */
export function insertBlobChunk(tx: Tx, uploadId: string, at: number, bytes: Buffer): void {
  tx.send(
    `/* bodies.insert-blob-chunk */
     INSERT INTO blob_chunks (upload_id, at, bytes)
     SELECT $1, $2, $3 FROM set_config('synchronous_commit', 'off', true)`,
    [uploadId, at, bytes],
  );
}

/** Some bytes of an upload, published or not, from this offset on, where a chunk begins; undefined at its end. */
export async function readUploadPart(database: Queryable, uploadId: string, at: number): Promise<Buffer | undefined> {
  const { rows } = await database.query<{ bytes: Buffer }>(
    '/* bodies.read-upload-part */ SELECT bytes FROM blob_chunks WHERE upload_id = $1 AND at = $2',
    [uploadId, at],
  );
  return rows[0]?.bytes;
}

export type UploadKey = Omit<NewUpload, 'media_type' | 'promised'>;

/** Whether the same attempt has published an upload of this name that was begun later. */
export async function isReplaced(
  tx: Tx,
  uploadId: string,
  { run_id, seq, attempt, name }: UploadKey,
): Promise<boolean> {
  const { rows } = await tx.query(
    `/* bodies.find-later-upload */
     SELECT FROM blobs
      WHERE run_id = $2 AND seq = $3 AND attempt = $4 AND name = $5 AND published_at IS NOT NULL AND upload_id > $1`,
    [uploadId, run_id, seq, attempt, name],
  );
  return rows.length > 0;
}

/** Takes away what the same attempt has published under this name; its run has the bytes back. */
export async function deleteReplaced(tx: Tx, { run_id, seq, attempt, name }: UploadKey): Promise<void> {
  await tx.query(
    `/* bodies.delete-replaced */
     WITH gone AS (
       DELETE FROM blobs
        WHERE run_id = $1 AND seq = $2 AND attempt = $3 AND name = $4 AND published_at IS NOT NULL RETURNING size)
     UPDATE run_bytes c SET bytes = greatest(0, c.bytes - gone.size) FROM gone WHERE c.run_id = $1`,
    [run_id, seq, attempt, name],
  );
}

/** Shows the upload to everybody. False: it is not there any more. */
export async function publishUpload(tx: Tx, uploadId: string, size: number, sha256: string): Promise<boolean> {
  const { affected } = await tx.query(
    `/* bodies.publish-upload */
     UPDATE blobs SET published_at = clock_timestamp(), size = $2, sha256 = $3
      WHERE upload_id = $1 AND published_at IS NULL`,
    [uploadId, size, sha256],
  );
  return affected === 1;
}

/**
 * Deletes an upload that was not published, with its chunks, whose bytes its run has back. False: it was published, or is
 * gone already. A chunk that is being stored comes before, so that it is counted.
 */
export async function deleteUpload(tx: Tx, uploadId: string): Promise<boolean> {
  tx.send('/* bodies.lock-upload */ SELECT FROM blobs WHERE upload_id = $1 AND published_at IS NULL FOR UPDATE', [
    uploadId,
  ]);
  const { affected } = await tx.query(
    `/* bodies.delete-upload */
     WITH gone AS (DELETE FROM blobs WHERE upload_id = $1 AND published_at IS NULL RETURNING run_id, promised),
     given_back AS (
       UPDATE run_bytes c SET bytes = greatest(0, c.bytes - (
                SELECT coalesce(sum(length(k.bytes)), 0) FROM blob_chunks k WHERE k.upload_id = $1))
         FROM gone WHERE c.run_id = gone.run_id AND gone.promised IS NOT NULL)
     SELECT FROM gone`,
    [uploadId],
  );
  return affected === 1;
}

/** The schema that the contract has for this output of the step; undefined: none. A contract never changes. */
export async function readSchema(
  database: Queryable,
  { run_id, seq, name }: BegunUpload,
): Promise<{ value: unknown } | undefined> {
  const { rows } = await database.query<{ value: unknown }>(
    `/* bodies.read-schema */
     SELECT schema AS value
       FROM (SELECT contract->'steps'->($2::int - 1)->'schema'->$3::text AS schema FROM runs WHERE run_id = $1) AS step
      WHERE schema IS NOT NULL`,
    [run_id, seq, name],
  );
  return rows[0];
}

import { inOrder, type Read, read, type Statement, type Write, write } from '../platform/database/statement.js';

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
export function mayNameUpload(
  { run_id, seq, name }: Pick<NewUpload, 'run_id' | 'seq' | 'name'>,
  most: number,
): Read<boolean> {
  return read({
    name: 'bodies.may-name-upload',
    text: `
     SELECT count(DISTINCT name) < $4 OR coalesce(bool_or(name = $3), false) AS may
       FROM blobs WHERE run_id = $1 AND seq = $2 AND promised IS FALSE`,
    params: [run_id, seq, name, most],
    as: (rows: { may: boolean }[]) => rows[0]!.may,
  });
}

/** Begins an upload that nobody sees yet; gives its number. */
export function insertUpload({
  run_id,
  seq,
  attempt,
  name,
  media_type,
  promised,
}: NewUpload): Write<{ upload_id: string }> {
  return write({
    name: 'bodies.insert-upload',
    text: `
     INSERT INTO blobs (run_id, seq, attempt, name, media_type, promised)
     VALUES ($1, $2, $3, $4, $5, $6) RETURNING upload_id`,
    params: [run_id, seq, attempt, name, media_type, promised],
    otherwise: 'gone',
    as: (rows: { upload_id: string }[]) => rows[0]!,
  });
}

/**
 * Adds bytes to an upload that is not published; a foreign key violation says that it is not there any more.
 * Its commit does not wait for the disk: until the upload is published a crash may take all of it, and the commit that
 * publishes it does wait, for everything that was written before it too.
 */
export function insertBlobChunk(uploadId: string, at: number, bytes: Buffer): Write<void> {
  return write({
    name: 'bodies.insert-blob-chunk',
    text: `
     INSERT INTO blob_chunks (upload_id, at, bytes)
     SELECT $1, $2, $3 FROM set_config('synchronous_commit', 'off', true)`,
    params: [uploadId, at, bytes],
    otherwise: 'gone',
  });
}

/** Some bytes of an upload, published or not, from this offset on, where a chunk begins; undefined at its end. */
export function readUploadPart(uploadId: string, at: number): Read<Buffer | undefined> {
  return read({
    name: 'bodies.read-upload-part',
    text: 'SELECT bytes FROM blob_chunks WHERE upload_id = $1 AND at = $2',
    params: [uploadId, at],
    as: (rows: { bytes: Buffer }[]) => rows[0]?.bytes,
  });
}

export type UploadKey = Omit<NewUpload, 'media_type' | 'promised'>;

/** Whether the same attempt has published an upload of this name that was begun later. */
export function isReplaced(uploadId: string, { run_id, seq, attempt, name }: UploadKey): Read<boolean> {
  return read({
    name: 'bodies.find-later-upload',
    text: `
     SELECT FROM blobs
      WHERE run_id = $2 AND seq = $3 AND attempt = $4 AND name = $5 AND published_at IS NOT NULL AND upload_id > $1`,
    params: [uploadId, run_id, seq, attempt, name],
    as: (rows: unknown[]) => rows.length > 0,
  });
}

/** Takes away what the same attempt has published under this name; its run has the bytes back. */
export function deleteReplaced({ run_id, seq, attempt, name }: UploadKey): Write<void> {
  return write({
    name: 'bodies.delete-replaced',
    text: `
     WITH gone AS (
       DELETE FROM blobs
        WHERE run_id = $1 AND seq = $2 AND attempt = $3 AND name = $4 AND published_at IS NOT NULL RETURNING size)
     UPDATE run_bytes c SET bytes = greatest(0, c.bytes - gone.size) FROM gone WHERE c.run_id = $1`,
    params: [run_id, seq, attempt, name],
    rows: 'any',
  });
}

/** Shows the upload to everybody. False: it is not there any more. */
export function publishUpload(uploadId: string, size: number, sha256: string): Write<boolean> {
  return write({
    name: 'bodies.publish-upload',
    text: `
     UPDATE blobs SET published_at = clock_timestamp(), size = $2, sha256 = $3
      WHERE upload_id = $1 AND published_at IS NULL`,
    params: [uploadId, size, sha256],
    rows: 'any',
    as: (_rows, touched) => touched === 1,
  });
}

/**
 * Deletes an upload that was not published, with its chunks, whose bytes its run has back. False: it was published, or is
 * gone already. A chunk that is being stored comes before, so that it is counted.
 */
export function deleteUpload(uploadId: string): Statement<boolean> {
  return inOrder([lockUpload(uploadId), deleteLockedUpload(uploadId)], ([, deleted]) => deleted);
}

function lockUpload(uploadId: string): Read<void> {
  return read({
    name: 'bodies.lock-upload',
    text: 'SELECT FROM blobs WHERE upload_id = $1 AND published_at IS NULL FOR UPDATE',
    params: [uploadId],
  });
}

function deleteLockedUpload(uploadId: string): Write<boolean> {
  return write({
    name: 'bodies.delete-upload',
    with: `
     gone AS (DELETE FROM blobs WHERE upload_id = $1 AND published_at IS NULL RETURNING run_id, promised),
     given_back AS (
       UPDATE run_bytes c SET bytes = greatest(0, c.bytes - (
                SELECT coalesce(sum(length(k.bytes)), 0) FROM blob_chunks k WHERE k.upload_id = $1))
         FROM gone WHERE c.run_id = gone.run_id AND gone.promised IS NOT NULL)`,
    text: 'SELECT FROM gone',
    params: [uploadId],
    rows: 'any',
    as: (_rows, deleted) => deleted === 1,
  });
}

/** The schema that the contract has for this output of the step; undefined: none. A contract never changes. */
export function readSchema({ run_id, seq, name }: BegunUpload): Read<{ value: unknown } | undefined> {
  return read({
    name: 'bodies.read-schema',
    text: `
     SELECT schema AS value
       FROM (SELECT contract->'steps'->($2::int - 1)->'schema'->$3::text AS schema FROM runs WHERE run_id = $1) AS step
      WHERE schema IS NOT NULL`,
    params: [run_id, seq, name],
    as: (rows: { value: unknown }[]) => rows[0],
  });
}

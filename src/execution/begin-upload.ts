import type { Database } from '../platform/database/database.js';
import { Problem } from '../platform/http/problem.js';
import { insertUpload, type NewUpload } from '../records/insert-upload.sql.js';
import { fenceUpload, type Upload } from './fence-upload.js';

export interface BegunUpload extends NewUpload {
  upload_id: string;
}

/** Begins an upload, before anything of its body is read: who may not, or promises too much, is told so at once. */
export function beginUpload(
  database: Database,
  upload: Upload,
  { mediaType, length = 0 }: { mediaType: string; length?: number },
  maxBytes: number,
): Promise<BegunUpload> {
  return database.transaction('begin-upload', async (tx) => {
    const attempt = await fenceUpload(tx, upload);
    if (length > maxBytes) throw tooLarge(maxBytes);
    const { run_id, seq, name } = upload;
    const begun = { run_id, seq, attempt, name, media_type: mediaType };
    return { ...begun, ...(await insertUpload(tx, begun)) };
  });
}

export function tooLarge(maxBytes: number): Problem {
  return new Problem('too_large', `an output is at most ${maxBytes} bytes; nothing of it was stored`);
}

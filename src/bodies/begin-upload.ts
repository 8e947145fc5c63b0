import { Logger } from '@nestjs/common';
import type { Config } from '../platform/config/config.js';
import type { Database } from '../platform/database/database.js';
import { Problem } from '../platform/http/problem.js';
import { fenceUpload } from './fence-upload.js';
import type { Upload } from './fence-upload.sql.js';
import { openRunBytes } from './run-bytes.sql.js';
import { insertUpload, mayNameUpload, deleteUpload, type BegunUpload } from './uploads.sql.js';

/** So many outputs that no step promises, and so many logs, a step may have, by their names. */
export const MOST_NAMES = 64;

/** Begins an upload, before anything of its body is read: a caller who may not, or announces too much, is refused at once. */
export function beginUpload(
  database: Database,
  upload: Upload,
  { mediaType, length = 0 }: { mediaType: string; length?: number },
  { maxBlobBytes, maxRunBytes }: Pick<Config, 'maxBlobBytes' | 'maxRunBytes'>,
): Promise<BegunUpload> {
  return database.transaction('begin-upload', async (tx) => {
    const { attempt, promised } = await fenceUpload(tx, upload, upload.name);
    if (length > maxBlobBytes) throw tooLarge(maxBlobBytes);
    const { run_id, seq, name } = upload;
    const stored = tx.send(openRunBytes(run_id));
    const mayName = promised || (await tx.ask(mayNameUpload(upload, MOST_NAMES)));
    if (!mayName) throw tooManyNames('outputs that no step promises');
    if ((await stored()) + length > maxRunBytes) throw runTooLarge(maxRunBytes);
    const begun = { run_id, seq, attempt, name, media_type: mediaType, promised };
    return { ...begun, ...(await tx.ask(insertUpload(begun))) };
  });
}

export function tooLarge(maxBytes: number): Problem {
  return new Problem('too_large', `an output is at most ${maxBytes} bytes; nothing was stored`);
}

export function runTooLarge(maxRunBytes: number): Problem {
  return new Problem(
    'too_large',
    `a run stores at most ${maxRunBytes} bytes in total; nothing of this output was stored`,
  );
}

export function tooManyNames(what: string): Problem {
  return new Problem('too_large', `a step has at most ${MOST_NAMES} different ${what}; use a name that it already has`);
}

const logger = new Logger('records');

/** Deletes an upload that comes to nothing. Never throws: what is left over the reaper deletes. */
export async function discardUpload(database: Database, uploadId: string): Promise<void> {
  try {
    await database.transaction('discard-upload', (tx) => tx.ask(deleteUpload(uploadId)));
  } catch (error) {
    logger.warn({
      msg: 'an abandoned upload was not deleted; the reaper deletes it later',
      upload_id: uploadId,
      err: error,
    });
  }
}

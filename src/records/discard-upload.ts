import { Logger } from '@nestjs/common';
import type { Database } from '../platform/database/database.js';
import { deleteUpload } from './delete-upload.sql.js';

const logger = new Logger('records');

/** Deletes an upload that comes to nothing. Never throws: what is left over the reaper deletes. */
export async function discardUpload(database: Database, uploadId: string): Promise<void> {
  try {
    await database.transaction('discard-upload', (tx) => deleteUpload(tx, uploadId));
  } catch (error) {
    logger.warn({ msg: 'an upload was not discarded; the reaper does it', upload_id: uploadId, err: error });
  }
}

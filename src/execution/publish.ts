import type { Fault } from '../domain/contract/contract.js';
import type { Database } from '../platform/database/database.js';
import { Problem } from '../platform/http/problem.js';
import { unavailable } from '../platform/http/problem.filter.js';
import { deleteUpload } from '../records/delete-upload.sql.js';
import { deleteReplaced, isReplaced, publishUpload } from '../records/publish-upload.sql.js';
import type { BegunUpload } from './begin-upload.js';
import { fenceUpload, type Upload } from './fence-upload.js';
import type { StoredBody } from './store-body.js';

/**
 * Shows an upload that is complete, in one transaction: asks again whether it may (the run's lock keeps its end away until
 * the commit), refuses what does not fit its schema, and replaces what the same attempt has uploaded under this name. An
 * upload that was begun later wins, whichever ends first: after a broken connection the caller's last word counts.
 */
export function publish(
  database: Database,
  upload: BegunUpload,
  { nonce, speaker }: Pick<Upload, 'nonce' | 'speaker'>,
  { size, sha256 }: StoredBody,
  faults: Fault[],
): Promise<void> {
  return database.transaction('publish', async (tx) => {
    await fenceUpload(tx, { ...upload, nonce, speaker });
    if (faults.length > 0) {
      const detail = `${upload.name} does not fit the schema that the contract has for it; nothing was stored`;
      throw new Problem('schema_violation', detail, { errors: faults });
    }
    if (await isReplaced(tx, upload.upload_id, upload)) {
      await deleteUpload(tx, upload.upload_id);
      return;
    }
    await deleteReplaced(tx, upload);
    const published = await publishUpload(tx, upload.upload_id, size, sha256);
    if (!published) throw unavailable('the upload took so long that it was given up; send it again');
  });
}

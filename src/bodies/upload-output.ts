import { Injectable } from '@nestjs/common';
import type { Fault } from '../domain/json/fault-list.js';
import { Config } from '../platform/config/config.js';
import { Database } from '../platform/database/database.js';
import { unavailable } from '../platform/http/problem.filter.js';
import { Problem } from '../platform/http/problem.js';
import type { RawBodyOf } from '../platform/http/raw-body.js';
import { discardUpload, beginUpload } from './begin-upload.js';
import { fenceUpload } from './fence-upload.js';
import type { Upload } from './fence-upload.sql.js';
import { JudgeOutput } from './judge-output.js';
import { OpenUploads } from './open-uploads.js';
import { storeBody, type StoredBody } from './store-body.js';
import { deleteUpload, deleteReplaced, isReplaced, publishUpload, type BegunUpload } from './uploads.sql.js';

/** Takes an output of a step: begin, store what comes, judge it, publish. Until the last of these nobody sees it. */
@Injectable()
export class UploadOutput {
  constructor(
    private readonly database: Database,
    private readonly config: Config,
    private readonly judge: JudgeOutput,
    private readonly uploads: OpenUploads,
  ) {}

  upload(upload: Upload, body: RawBodyOf): Promise<void> {
    return this.uploads.admit(upload, () => this.#take(upload, body));
  }

  async #take(upload: Upload, body: RawBodyOf): Promise<void> {
    const begun = await beginUpload(this.database, upload, body, this.config);
    try {
      const { attempt } = begun;
      const stored = await this.uploads.watch({ ...upload, attempt }, body.bytes, (ended) =>
        storeBody(this.database, begun, body.bytes, this.config, ended),
      );
      const faults = await this.judge.judge(begun, stored.size, upload.speaker ?? upload.run_id);
      await publish(this.database, begun, upload, stored, faults);
    } catch (error) {
      await discardUpload(this.database, begun.upload_id);
      throw error;
    }
  }
}

/**
 * Shows an upload that is complete, in one transaction: asks again whether it may (the run's lock keeps its end away until
 * the commit), refuses what does not fit its schema, and replaces what the same attempt has uploaded under this name. An
 * upload that was begun later wins, whichever ends first: after a broken connection the caller's last word counts.
 */
function publish(
  database: Database,
  upload: BegunUpload,
  { nonce, speaker }: Pick<Upload, 'nonce' | 'speaker'>,
  { size, sha256 }: StoredBody,
  faults: Fault[],
): Promise<void> {
  return database.transaction('publish', async (tx) => {
    await fenceUpload(tx, { ...upload, nonce, speaker });
    if (faults.length > 0) {
      const detail = `${upload.name} does not match its schema in the contract; nothing was stored`;
      throw new Problem('schema_violation', detail, { errors: faults });
    }
    if (await tx.ask(isReplaced(upload.upload_id, upload))) {
      await tx.ask(deleteUpload(upload.upload_id));
      return;
    }
    await tx.ask(deleteReplaced(upload));
    const published = await tx.ask(publishUpload(upload.upload_id, size, sha256));
    if (!published) throw unavailable('the upload took so long that it was given up; send it again');
  });
}

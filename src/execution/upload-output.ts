import { Injectable } from '@nestjs/common';
import { Config } from '../platform/config/config.js';
import { Database } from '../platform/database/database.js';
import type { RawBodyOf } from '../platform/http/raw-body.js';
import { discardUpload } from '../records/discard-upload.js';
import { beginUpload } from './begin-upload.js';
import type { Upload } from './fence-upload.js';
import { JudgeOutput } from './judge-output.js';
import { OpenUploads } from './open-uploads.js';
import { publish } from './publish.js';
import { storeBody } from './store-body.js';

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

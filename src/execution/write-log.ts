import { Injectable } from '@nestjs/common';
import { Config } from '../platform/config/config.js';
import { Database } from '../platform/database/database.js';
import { bodyChunks } from '../platform/http/body-chunks.js';
import type { RawBodyOf } from '../platform/http/raw-body.js';
import type { Upload } from './fence-upload.js';
import { OpenUploads } from './open-uploads.js';
import { CHUNK_BYTES } from './store-body.js';
import { takeLogChunk } from './take-log-chunk.js';

/** A log that is written as the program speaks is seen by its followers this much later, at most. */
const LINGER_MS = 100;
const NOTHING = Buffer.alloc(0);

/** Takes bytes of a log as they come. What was taken stays, also where the body breaks off: the caller goes on from there. */
@Injectable()
export class WriteLog {
  constructor(
    private readonly database: Database,
    private readonly config: Config,
    private readonly uploads: OpenUploads,
  ) {}

  /** Gives the size that the log has then. */
  write(log: Upload, offset: number | undefined, body: RawBodyOf): Promise<number> {
    return this.uploads.admit(log, () => this.#take(log, offset, body));
  }

  async #take(log: Upload, offset: number | undefined, body: RawBodyOf): Promise<number> {
    let at = offset;
    let taken: { attempt: number; size: number } | undefined;
    const take = async (chunk: Buffer): Promise<number> => {
      const attempt = taken?.attempt ?? log.attempt;
      taken = await takeLogChunk(this.database, { ...log, attempt }, at, chunk, this.config);
      if (at !== undefined) at += chunk.length;
      return taken.size;
    };
    await this.uploads.watch(log, body.bytes, async (ended) => {
      const options = { lingerMs: LINGER_MS, pauseSeconds: this.config.bodyPauseSeconds, ended };
      for await (const chunk of bodyChunks(body.bytes, CHUNK_BYTES, options)) await take(chunk);
    });
    return taken?.size ?? take(NOTHING);
  }
}

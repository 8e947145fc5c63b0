import { Injectable } from '@nestjs/common';
import type { Fault } from '../domain/json/fault-list.js';
import { Database } from '../platform/database/database.js';
import { unavailable } from '../platform/http/problem.filter.js';
import { Judging } from '../platform/judging/judging.js';
import { readUploadPart, readSchema, type BegunUpload } from './uploads.sql.js';
const MOST_BYTES = 256 * 1024 * 1024;

/**
 * Holds an upload against the schema that the contract has for it, whatever its media type. That takes the whole body in
 * memory, and more once it is parsed: uploads take turns, and what waits lies in the database.
 */
@Injectable()
export class JudgeOutput {
  constructor(
    private readonly database: Database,
    private readonly judging: Judging,
  ) {}

  /** What is wrong with it; nothing where it fits, or where there is no schema for it. `caller`: in whose turn it is judged. */
  async judge(upload: BegunUpload, size: number, caller: string): Promise<Fault[]> {
    const schema = await this.database.ask(readSchema(upload));
    if (schema === undefined) return [];
    // A string holds half a gigabyte.
    if (size > MOST_BYTES) return [{ pointer: '', detail: `An output with a schema is at most ${MOST_BYTES} bytes.` }];
    const read = (): Promise<Uint8Array<ArrayBuffer>> => this.#read(upload.upload_id, size);
    return this.judging.output(caller, { schema: schema.value, size, read });
  }

  async #read(uploadId: string, size: number): Promise<Uint8Array<ArrayBuffer>> {
    // Not of the pool that small buffers share: it is given away to a thread.
    const bytes = new Uint8Array(size);
    for (let at = 0; at < size;) {
      const part = await this.database.ask(readUploadPart(uploadId, at));
      if (part === undefined) throw unavailable('the upload took so long that it was given up; send it again');
      bytes.set(part, at);
      at += part.length;
    }
    return bytes;
  }
}

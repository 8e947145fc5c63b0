import { Injectable } from '@nestjs/common';
import type { Fault } from '../domain/contract/contract.js';
import { compileOutputSchema } from '../domain/contract/output-schema.js';
import { Database } from '../platform/database/database.js';
import { unavailable } from '../platform/http/problem.filter.js';
import { readUploadPart } from '../records/read-upload-part.sql.js';
import type { BegunUpload } from './begin-upload.js';
import { readSchema } from './read-schema.sql.js';

const MOST_BYTES = 256 * 1024 * 1024;

/**
 * Holds an upload against the schema that the contract has for it, whatever its media type. That takes the whole body in
 * memory, and more once it is parsed: uploads take turns, and what waits lies in the database.
 */
@Injectable()
export class JudgeOutput {
  #last: Promise<unknown> = Promise.resolve();

  constructor(private readonly database: Database) {}

  /** What is wrong with it; nothing where it fits, or where there is no schema for it. */
  async judge(upload: BegunUpload, size: number): Promise<Fault[]> {
    const schema = await readSchema(this.database, upload);
    if (schema === undefined) return [];
    const turn = this.#last.then(() => this.#judge(schema.value, upload.upload_id, size));
    this.#last = turn.catch(() => undefined);
    return turn;
  }

  async #judge(schema: unknown, uploadId: string, size: number): Promise<Fault[]> {
    // A string holds half a gigabyte.
    if (size > MOST_BYTES) return [{ pointer: '', detail: `An output with a schema is at most ${MOST_BYTES} bytes.` }];
    const compiled = compileOutputSchema(schema);
    if (!compiled.ok) throw new Error(`a schema that was accepted does not compile: ${compiled.fault.detail}`);
    let value: unknown;
    try {
      value = JSON.parse(await this.#readText(uploadId, size));
    } catch (error) {
      if (error instanceof NotUtf8) return [{ pointer: '', detail: 'The output must be JSON in UTF-8.' }];
      if (error instanceof SyntaxError) return [{ pointer: '', detail: `The output must be JSON: ${error.message}.` }];
      throw error;
    }
    return compiled.check(value);
  }

  async #readText(uploadId: string, size: number): Promise<string> {
    const bytes = Buffer.allocUnsafe(size);
    for (let at = 0; at < size;) {
      const part = await readUploadPart(this.database, uploadId, at);
      if (part === undefined) throw unavailable('the upload took so long that it was given up; send it again');
      at += part.copy(bytes, at);
    }
    try {
      return utf8.decode(bytes);
    } catch (error) {
      throw new NotUtf8('not UTF-8', { cause: error });
    }
  }
}

class NotUtf8 extends Error {}

// JSON has no byte order mark; left in, the parser refuses it.
const utf8 = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true });

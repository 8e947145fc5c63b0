import { Injectable } from '@nestjs/common';
import { Database } from '../platform/database/database.js';
import { readUnsealed } from '../records/read-unsealed.sql.js';
import { SealRecord } from '../records/seal-record.js';
import type { ReaperPart } from './reaper-part.js';

const SEALS_PER_PASS = 1000;

/** Finishes the records of runs that are over, where a crash or a failure left them without a digest. */
@Injectable()
export class UnsealedRecords implements ReaperPart<string> {
  readonly name = 'sealed';
  readonly wakes = undefined;

  constructor(
    private readonly database: Database,
    private readonly record: SealRecord,
  ) {}

  find(): Promise<string[]> {
    return readUnsealed(this.database, SEALS_PER_PASS);
  }

  async reap(runId: string): Promise<boolean> {
    return (await this.record.seal([runId])) === 1;
  }
}

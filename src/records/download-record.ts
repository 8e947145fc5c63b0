import { Readable } from 'node:stream';
import { Injectable } from '@nestjs/common';
import { Database } from '../platform/database/database.js';
import { Problem } from '../platform/http/problem.js';
import { packRecord } from './pack-record.js';
import { readBodies } from './record-bodies.sql.js';
import { readRecord, type StoredRecord } from './records.sql.js';

/** A record that can be downloaded. */
export type Downloadable = { [Key in keyof StoredRecord]: NonNullable<StoredRecord[Key]> };

/** Finds a sealed record, and packs it. */
@Injectable()
export class DownloadRecord {
  constructor(private readonly database: Database) {}

  /** Throws not_found where there is no such run or its record was purged, not_sealed before it has its digest. */
  async find(runId: string): Promise<Downloadable> {
    const record = await this.database.ask(readRecord(runId));
    if (record === undefined) throw new Problem('not_found', `there is no run ${runId}`);
    const { closed_at, files, sums, digest } = record;
    if (digest === null || closed_at === null) {
      throw new Problem('not_sealed', 'the record is sealed when the run is over; ask again then');
    }
    if (files === null || sums === null) throw purged(runId);
    return { closed_at, files, sums, digest };
  }

  /** The tar, whose length is known before its bytes. */
  async pack(runId: string, record: Downloadable): Promise<{ length: number; bytes: Readable }> {
    const bodies = await this.database.ask(readBodies(runId));
    const packed = packRecord(this.database, { run_id: runId, ...record, ...bodies });
    if (packed === undefined) throw purged(runId);
    return { length: packed.length, bytes: Readable.from(packed.bytes(), { objectMode: false }) };
  }
}

function purged(runId: string): Problem {
  return new Problem('not_found', `the record of run ${runId} was purged`);
}

import { Injectable, Logger } from '@nestjs/common';
import { Database } from '../platform/database/database.js';
import { hashLogs } from './hash-logs.js';
import { readBodies } from './read-bodies.sql.js';
import { readClosed } from './read-closed.sql.js';
import { renderRecord } from './render-record.js';
import { writeSeal } from './write-seal.sql.js';

/** Seals closed records: after the commit that closed them and the wake, before the answer; what fails the reaper finishes. */
@Injectable()
export class SealRecord {
  readonly #logger = new Logger('records');

  constructor(private readonly database: Database) {}

  /** Seals each of these runs' records; gives how many it sealed. Never throws: a request does not fail by its seal. */
  async seal(runIds: string[]): Promise<number> {
    let sealed = 0;
    for (const runId of runIds) {
      try {
        if (await this.#sealOne(runId)) sealed += 1;
      } catch (error) {
        this.#logger.error({ msg: 'a record was not sealed; the reaper does it', run_id: runId, err: error });
      }
    }
    return sealed;
  }

  /** A closed record does not change, so it is read before the transaction: no connection is held while logs are hashed. */
  async #sealOne(runId: string): Promise<boolean> {
    const closed = await readClosed(this.database, runId);
    if (closed === undefined) return false;
    const bodies = await readBodies(this.database, runId);
    const record = renderRecord(closed, bodies, await hashLogs(this.database, runId, bodies.logs));
    return this.database.transaction('seal', (tx) => writeSeal(tx, runId, record));
  }
}

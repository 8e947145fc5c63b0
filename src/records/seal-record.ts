import { createHash } from 'node:crypto';
import { setImmediate as endOfTurn } from 'node:timers/promises';
import { Injectable, Logger } from '@nestjs/common';
import { Database } from '../platform/database/database.js';
import type { Tx, Queryable } from '../platform/database/queryable.js';
import { inPieces } from './in-pieces.js';
import { readBodies, readLogBytes, type StoredLog } from './record-bodies.sql.js';
import { readClosed, writeSeal, type RenderedRecord } from './records.sql.js';
import { renderRecord, logPath } from './render-record.js';

/** Seals closed records: after the commit that closed them, beside the wake, before the answer; what fails the reaper finishes. */
@Injectable()
export class SealRecord {
  readonly #logger = new Logger('records');

  constructor(private readonly database: Database) {}

  /** Seals each of these runs' records; gives how many it sealed. Never throws: a request does not fail by its seal. */
  async seal(runIds: string[]): Promise<number> {
    // What the runs have freed is looked at first: others wait for it.
    await endOfTurn();
    let sealed = 0;
    for (const runId of runIds) if (await this.#sealOne(runId)) sealed += 1;
    return sealed;
  }

  async #sealOne(runId: string): Promise<boolean> {
    try {
      const record = await this.#render(runId);
      return record !== undefined && (await this.#store(runId, record));
    } catch (error) {
      this.#logger.error({
        msg: 'a record was not sealed; the next reaper pass tries again',
        run_id: runId,
        err: error,
      });
      return false;
    }
  }

  /** Before the transaction: no connection is held while logs are hashed. Undefined: it is not closed. */
  async #render(runId: string): Promise<RenderedRecord | undefined> {
    const [closed, bodies] = await Promise.all([
      this.database.ask(readClosed(runId)),
      this.database.ask(readBodies(runId)),
    ]);
    if (closed === undefined) return undefined;
    return renderRecord(closed, bodies, await hashLogs(this.database, runId, bodies.logs));
  }

  async #store(runId: string, record: RenderedRecord): Promise<boolean> {
    const work = (tx: Tx): Promise<() => Promise<boolean>> => Promise.resolve(tx.send(writeSeal(runId, record)));
    const stored = await this.database.transaction('seal', work);
    return stored();
  }
}

/** The sums of the logs of a closed record, by path. They grew in pieces, so they are read once more, piece by piece. */
async function hashLogs(database: Queryable, runId: string, logs: StoredLog[]): Promise<Map<string, string>> {
  const sums = new Map<string, string>();
  for (const log of logs) {
    const hash = createHash('sha256');
    const key = { run_id: runId, ...log };
    const pieces = inPieces(0, log.size, (from, to) => database.ask(readLogBytes(key, from, to)));
    for await (const piece of pieces) hash.update(piece);
    sums.set(logPath(log), hash.digest('hex'));
  }
  return sums;
}

import { Injectable } from '@nestjs/common';
import { whyWaiting } from '../domain/waiting/why-waiting.js';
import type { Holder } from '../domain/waiting/waiting.js';
import { Config } from '../platform/config/config.js';
import { Database } from '../platform/database/database.js';
import { appendEvent } from '../records/append-event.sql.js';
import { openRecord } from '../records/open-record.sql.js';
import { insertSteps } from '../steps/insert-steps.js';
import { insertRun, type NewRun } from './insert-run.sql.js';
import type { Fleet } from './read-fleet.js';

/** Queues a run: its row, its steps, its record, and nothing else. A queued run holds nothing. */
@Injectable()
export class EnqueueRun {
  constructor(
    private readonly database: Database,
    private readonly config: Config,
  ) {}

  /** `fleet` is what the run was matched against: the reason and the holders of that moment are kept for its record. */
  enqueue(run: NewRun, fleet: Fleet): Promise<'queued' | 'existed'> {
    const { requires, spread = false } = run.contract;
    const { busy, draining, silent } = fleet.unavailable;
    const cap = this.config.maxLeasesPerRun;
    const { reason, roles } = whyWaiting({ requires, spread, adverts: fleet.adverts, busy, draining, silent, cap });
    const holders = distinct(roles.flatMap((role) => role.holders));
    return this.database.transaction('enqueue', async (tx) => {
      if (!(await insertRun(tx, run, { state: 'QUEUED', reason, holders }))) return 'existed';
      await openRecord(tx, run.run_id);
      await insertSteps(tx, run.run_id, run.contract);
      await appendEvent(tx, run.run_id, 'queued', { reason });
      return 'queued';
    });
  }
}

function distinct(holders: Holder[]): Holder[] {
  return [...new Map(holders.map((holder) => [holder.node_id, holder])).values()];
}

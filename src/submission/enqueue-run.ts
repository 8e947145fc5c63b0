import { Injectable } from '@nestjs/common';
import type { Holder } from '../domain/waiting/waiting-role.js';
import type { Fleet } from '../fleet/fleet-view.js';
import { Database } from '../platform/database/database.js';
import { ExplainWaiting } from '../queue/explain-waiting.js';
import { insertRun, type NewRun } from './insert-run.sql.js';

/** Queues a run: its row, its steps, its record, and nothing else. A queued run holds nothing. */
@Injectable()
export class EnqueueRun {
  constructor(
    private readonly database: Database,
    private readonly waiting: ExplainWaiting,
  ) {}

  /** The reason, and who holds the nodes that the run could take, are kept for its record. */
  async enqueue(run: NewRun, fleet: Fleet): Promise<'queued' | 'existed'> {
    const { requires, spread = false } = run.contract;
    const [waiting] = await this.waiting.reasons(fleet, [{ requires, spread }]);
    const { reason, roles } = waiting!;
    const holders = distinct(roles.flatMap((role) => role.holders));
    return this.database.transaction('enqueue', async (tx) => {
      return (await tx.ask(insertRun(run, { state: 'QUEUED', reason, holders }))) ? 'queued' : 'existed';
    });
  }
}

function distinct(holders: Holder[]): Holder[] {
  return [...new Map(holders.map((holder) => [holder.node_id, holder])).values()];
}

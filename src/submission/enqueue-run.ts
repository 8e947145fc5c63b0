import { Injectable } from '@nestjs/common';
import { holdersOf } from '../domain/waiting/waiting-role.js';
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
    const holders = holdersOf(roles);
    return this.database.transaction('enqueue', async (tx) => {
      return (await tx.ask(insertRun(run, { state: 'QUEUED', reason, holders }))) ? 'queued' : 'existed';
    });
  }
}

import { Injectable } from '@nestjs/common';
import { isOver } from '../domain/states.js';
import { deleteLease } from '../leases/delete-lease.sql.js';
import { Database } from '../platform/database/database.js';
import { appendEvent } from '../records/append-event.sql.js';
import { lockRun } from '../steps/lock-run.sql.js';

/** Deletes a lease that outlived its run. Its record is closed: an event tells of it, and no grant. */
@Injectable()
export class DeleteLeftover {
  constructor(private readonly database: Database) {}

  delete(nodeId: string, runId: string): Promise<boolean> {
    return this.database.transaction('leftover', async (tx) => {
      const run = await lockRun(tx, runId);
      if (run === undefined || !isOver(run.state)) return false;
      if (!(await deleteLease(tx, nodeId, runId))) return false;
      await appendEvent(tx, runId, 'leftover_lease_deleted', { node_id: nodeId });
      return true;
    });
  }
}

import { Injectable } from '@nestjs/common';
import { isOver } from '../domain/states.js';
import { deleteLease } from '../leases/delete-lease.sql.js';
import { Database } from '../platform/database/database.js';
import { appendEvent } from '../records/append-event.sql.js';
import { lockRun } from '../steps/lock-run.sql.js';
import { findLeftovers, type Leftover } from './find-reapable.sql.js';
import type { ReaperPart } from './reaper-part.js';

/** Deletes a lease that outlived its run. Its record is closed: an event tells of it, and no grant. */
@Injectable()
export class LeftoverLeases implements ReaperPart<Leftover> {
  readonly name = 'leftovers';
  readonly wakes = 'reaper';

  constructor(private readonly database: Database) {}

  find(): Promise<Leftover[]> {
    return findLeftovers(this.database);
  }

  reap({ node_id: nodeId, run_id: runId }: Leftover): Promise<boolean> {
    return this.database.transaction('leftover', async (tx) => {
      const run = await lockRun(tx, runId);
      if (run === undefined || !isOver(run.state)) return false;
      if (!(await deleteLease(tx, nodeId, runId))) return false;
      appendEvent(tx, runId, 'leftover_lease_deleted', { node_id: nodeId });
      return true;
    });
  }
}

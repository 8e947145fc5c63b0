import { Injectable } from '@nestjs/common';
import { deleteUpload } from '../bodies/uploads.sql.js';
import { isOver } from '../domain/states.js';
import { forgetFleetChanges } from '../fleet/fleet-changes.sql.js';
import { deleteLease } from '../leases/leases.sql.js';
import { Database } from '../platform/database/database.js';
import { forgetQueueChanges } from '../queue/queue.sql.js';
import { appendEvent } from '../records/events.sql.js';
import { readUnsealed } from '../records/records.sql.js';
import { lockRun } from '../records/runs.sql.js';
import { SealRecord } from '../records/seal-record.js';
import { addUpEnded } from '../steps/run-endings.sql.js';
import type { ReaperPart } from './reaper-part.js';
import { findLeftovers, type Leftover, findLeftoverUploads } from './reaper.sql.js';

/** Deletes a lease that outlived its run. Its record is closed, so an event records this, and no grant. */
@Injectable()
export class LeftoverLeases implements ReaperPart<Leftover> {
  readonly name = 'leftovers';
  readonly wakes = 'reaper';

  constructor(private readonly database: Database) {}

  find(): Promise<Leftover[]> {
    return this.database.ask(findLeftovers());
  }

  reap({ node_id: nodeId, run_id: runId }: Leftover): Promise<boolean> {
    return this.database.transaction('leftover', async (tx) => {
      const run = await tx.ask(lockRun(runId));
      if (run === undefined || !isOver(run.state)) return false;
      if (!(await tx.ask(deleteLease(nodeId, runId)))) return false;
      tx.send(appendEvent(runId, 'leftover_lease_deleted', { node_id: nodeId }));
      return true;
    });
  }
}

/** No upload takes as long; one that does has to begin again. */
const LONGEST_SECONDS = 3600;
const UPLOADS_PER_PASS = 1000;

/** Deletes uploads that a crash has left behind. They were never seen, and are no part of a record. */
@Injectable()
export class LeftoverUploads implements ReaperPart<string> {
  readonly name = 'uploads';
  readonly wakes = undefined;

  constructor(private readonly database: Database) {}

  find(): Promise<string[]> {
    return this.database.ask(findLeftoverUploads(LONGEST_SECONDS, UPLOADS_PER_PASS));
  }

  reap(uploadId: string): Promise<boolean> {
    return this.database.transaction('leftover-upload', (tx) => tx.ask(deleteUpload(uploadId)));
  }
}

/**
 * Forgets, all at once, the changes of the fleet and of the queue that nobody will ask for any more, and adds up the runs
 * that have ended.
 */
@Injectable()
export class OldChanges implements ReaperPart<'old'> {
  readonly name = 'changes';
  readonly wakes = undefined;

  constructor(private readonly database: Database) {}

  find(): Promise<'old'[]> {
    return Promise.resolve(['old']);
  }

  reap(): Promise<boolean> {
    return this.database.transaction('forget-changes', async (tx) => {
      await tx.ask(addUpEnded());
      const ofFleet = await tx.ask(forgetFleetChanges());
      return (await tx.ask(forgetQueueChanges())) || ofFleet;
    });
  }
}

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
    return this.database.ask(readUnsealed(SEALS_PER_PASS));
  }

  async reap(runId: string): Promise<boolean> {
    return (await this.record.seal([runId])) === 1;
  }
}

import { Injectable } from '@nestjs/common';
import { forgetFleetChanges } from '../fleet/forget-fleet-changes.sql.js';
import { Database } from '../platform/database/database.js';
import { forgetQueueChanges } from '../queue/forget-queue-changes.sql.js';
import { addUpEnded } from '../steps/add-up-ended.sql.js';
import type { ReaperPart } from './reaper-part.js';

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
      await addUpEnded(tx);
      const ofFleet = await forgetFleetChanges(tx);
      return (await forgetQueueChanges(tx)) || ofFleet;
    });
  }
}

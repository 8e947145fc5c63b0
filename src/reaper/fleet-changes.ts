import { Injectable } from '@nestjs/common';
import { forgetFleetChanges } from '../fleet/forget-fleet-changes.sql.js';
import { Database } from '../platform/database/database.js';
import type { ReaperPart } from './reaper-part.js';

/** Forgets, all at once, the changes of the fleet that nobody will ask for any more. */
@Injectable()
export class FleetChanges implements ReaperPart<'old'> {
  readonly name = 'changes';
  readonly wakes = undefined;

  constructor(private readonly database: Database) {}

  find(): Promise<'old'[]> {
    return Promise.resolve(['old']);
  }

  reap(): Promise<boolean> {
    return this.database.transaction('forget-changes', (tx) => forgetFleetChanges(tx));
  }
}

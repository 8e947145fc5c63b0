import { Injectable } from '@nestjs/common';
import { Database } from '../platform/database/database.js';
import { appendNodeEvent } from '../records/events.sql.js';
import { clearHold, readStanding } from './holds.sql.js';
import { lockAdvert } from './nodes.sql.js';
import { noSuchNode } from './show-nodes.js';

/** Puts a node back into service, one that was forgotten too. A node that is not held stays as it is. */
@Injectable()
export class LiftHold {
  constructor(private readonly database: Database) {}

  /** True where a hold was lifted from a node that is live. */
  lift(nodeId: string, by: string): Promise<boolean> {
    return this.database.transaction('lift-hold', async (tx) => {
      const [, standing] = await tx.ask(lockAdvert(nodeId), readStanding(nodeId));
      if (standing === undefined) throw noSuchNode(nodeId);
      if (!standing.held) return false;
      tx.send(clearHold(nodeId));
      tx.send(appendNodeEvent('node_lifted', { node_id: nodeId, by }));
      return standing.live;
    });
  }
}

import { Injectable } from '@nestjs/common';
import { Database } from '../platform/database/database.js';
import { Problem } from '../platform/http/problem.js';
import { appendNodeEvent } from '../records/events.sql.js';
import { readStanding, writeForgotten } from './holds.sql.js';
import { lockAdvert } from './nodes.sql.js';
import { noSuchNode } from './show-nodes.js';

/** Forgets a node that is gone for good. Its history stays, and so does a person's hold; an advert brings it back. */
@Injectable()
export class ForgetNode {
  constructor(private readonly database: Database) {}

  /** Throws node_in_use where it is live, or a run holds it. */
  forget(nodeId: string, by: string): Promise<void> {
    return this.database.transaction('forget-node', async (tx) => {
      const [, standing] = await tx.ask(lockAdvert(nodeId), readStanding(nodeId));
      if (standing === undefined || standing.forgotten) throw noSuchNode(nodeId);
      if (standing.live) throw new Problem('node_in_use', `node ${nodeId} is live: stop its process, or hold it`);
      if (standing.leased)
        throw new Problem('node_in_use', `a run holds node ${nodeId}: cancel it, or wait for its end`);
      tx.send(writeForgotten(nodeId));
      tx.send(appendNodeEvent('node_forgotten', { node_id: nodeId, by }));
    });
  }
}

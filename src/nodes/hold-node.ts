import { Injectable } from '@nestjs/common';
import { Database } from '../platform/database/database.js';
import { Problem } from '../platform/http/problem.js';
import { appendNodeEvent } from '../records/events.sql.js';
import { readStanding, writeHold } from './holds.sql.js';
import { lockAdvert } from './nodes.sql.js';

/** Takes a node out of service, whatever its process says. The run that holds it goes on. */
@Injectable()
export class HoldNode {
  constructor(private readonly database: Database) {}

  hold(nodeId: string, reason: string, by: string): Promise<void> {
    return this.database.transaction('hold', async (tx) => {
      const [, standing] = await tx.ask(lockAdvert(nodeId), readStanding(nodeId));
      if (standing === undefined || standing.forgotten) {
        throw new Problem('not_found', `there is no node ${nodeId}: it was never seen, or was forgotten`);
      }
      tx.send(writeHold(nodeId, reason, by));
      tx.send(appendNodeEvent('node_held', { node_id: nodeId, by, reason }));
    });
  }
}

import { Injectable, Logger } from '@nestjs/common';
import type { AssignedRole } from '../domain/matching/fleet.js';
import type { GrantedNode } from '../leases/grant-leases.js';
import { Config } from '../platform/config/config.js';
import { Database } from '../platform/database/database.js';
import { isContention } from '../platform/database/faults.js';
import { Metrics } from '../platform/metrics/metrics.js';
import { Rollback } from '../platform/database/queryable.js';
import { appendEvent } from '../records/append-event.sql.js';
import { beginRun } from '../steps/begin-run.js';
import { markRunning } from './mark-running.sql.js';
import type { Why } from './why.js';

/** `moved`: it was not queued any more. `collided`: what the sweep read is stale. Both leave nothing behind. */
export type Promotion = 'promoted' | 'moved' | 'collided';

/** Promotes one run onto the nodes it was matched with, in one transaction. Contention counts as a collision at once. */
@Injectable()
export class Promote {
  readonly #logger = new Logger('queue');

  constructor(
    private readonly database: Database,
    private readonly config: Config,
    private readonly metrics: Metrics,
  ) {}

  async promote(runId: string, assigned: AssignedRole[], nodes: GrantedNode[], whys: Why[]): Promise<Promotion> {
    try {
      const outcome = await this.database.transaction<Promotion>(
        'promote',
        async (tx) => {
          if (!(await markRunning(tx, runId, assigned, whys))) throw new Rollback<Promotion>('moved');
          const begin = { assigned, nodes, ttlSeconds: this.config.leaseTtlSeconds };
          if ((await beginRun(tx, runId, begin)) === 'collided') throw new Rollback<Promotion>('collided');
          await appendEvent(tx, runId, 'promoted', { whys, nodes: nodes.map((node) => node.node_id) });
          return 'promoted';
        },
        { retry: false },
      );
      if (outcome === 'promoted') {
        this.metrics.promotions.inc();
        this.#logger.log({ msg: 'promoted', run_id: runId, nodes: nodes.map((node) => node.node_id), whys });
      }
      return outcome;
    } catch (error) {
      if (isContention(error)) return 'collided';
      throw error;
    }
  }
}

import { Injectable, Logger } from '@nestjs/common';
import type { AssignedRole } from '../domain/matching/fleet.js';
import type { GrantedNode } from '../leases/grant-leases.js';
import { Config } from '../platform/config/config.js';
import { Database } from '../platform/database/database.js';
import { isContention } from '../platform/database/faults.js';
import { Metrics } from '../platform/metrics/metrics.js';
import { Rollback } from '../platform/database/queryable.js';
import { beginRun } from '../steps/begin-run.js';
import { termsOf } from '../steps/terms-of.js';
import { markRunning } from './mark-running.sql.js';
import type { Why } from './why.js';

/** `holds`: the nodes it has taken. `moved`: it was not queued any more. `collided`: what the sweep read is stale. Both leave nothing behind. */
export type Promotion = { kind: 'promoted'; holds: string[] } | { kind: 'moved' } | { kind: 'collided' };

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
          if (!(await markRunning(tx, runId, assigned, whys))) throw new Rollback<Promotion>({ kind: 'moved' });
          const begun = await beginRun(tx, runId, {
            assigned,
            nodes,
            terms: termsOf(this.config),
            event: { kind: 'promoted', whys },
          });
          if (begun.kind === 'collided') throw new Rollback<Promotion>({ kind: 'collided' });
          return { kind: 'promoted', holds: begun.holds };
        },
        { retry: false },
      );
      if (outcome.kind === 'promoted') {
        this.metrics.promotions.inc();
        this.#logger.log({ msg: 'promoted', run_id: runId, nodes: nodes.map((node) => node.node_id), whys });
      }
      return outcome;
    } catch (error) {
      if (isContention(error)) return { kind: 'collided' };
      throw error;
    }
  }
}

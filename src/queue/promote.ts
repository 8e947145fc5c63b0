import { Injectable, Logger } from '@nestjs/common';
import type { AssignedRole } from '../domain/matching/fleet.js';
import type { GrantedNode } from '../leases/grant-leases.sql.js';
import { Config } from '../platform/config/config.js';
import { Database } from '../platform/database/database.js';
import { isContention } from '../platform/database/faults.js';
import { point } from '../platform/points.js';
import { Metrics } from '../platform/metrics/metrics.js';
import { Rollback } from '../platform/database/queryable.js';
import { beginRun } from '../steps/begin-run.js';
import { termsOf } from '../steps/terms-of.js';
import { promoteRuns } from './promote-runs.sql.js';
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
    const terms = termsOf(this.config);
    try {
      const outcome = await this.database.transaction<Promotion>(
        'promote',
        async (tx) => {
          await point('promote.before-grant');
          const run = { run_id: runId, assigned, nodes };
          const { moved, leased, own_steps } = await promoteRuns(tx, [run], whys, terms.ttlSeconds);
          if (moved === 0) throw new Rollback<Promotion>({ kind: 'moved' });
          if (leased < nodes.length) throw new Rollback<Promotion>({ kind: 'collided' });
          const matched = nodes.map((node) => node.node_id);
          return { kind: 'promoted', holds: await beginRun(tx, runId, { matched, ownSteps: own_steps, terms }) };
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

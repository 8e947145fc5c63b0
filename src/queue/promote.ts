import { Injectable, Logger } from '@nestjs/common';
import { LeaseTerms } from '../leases/lease-terms.js';
import { Database } from '../platform/database/database.js';
import type { Tx } from '../platform/database/queryable.js';
import { refusal } from '../platform/database/refusals.js';
import { failpoint } from '../platform/failpoints.js';
import { Metrics } from '../platform/metrics/metrics.js';
import { isContention } from '../platform/sessions/faults.js';
import { beginRun } from '../steps/begin-run.js';
import { type Promotable, promoteRuns } from './promote-runs.sql.js';
import type { Why } from './why.js';

/** `holds`: the nodes that were taken. `not_queued`: a run was not queued any more. `collided`: what the sweep read is stale. Both leave nothing behind. */
export type Promotion = { kind: 'promoted'; holds: string[] } | { kind: 'not_queued' } | { kind: 'collided' };

/** Promotes runs onto the nodes they were matched with, in one transaction. Contention counts as a collision at once. */
@Injectable()
export class Promote {
  readonly #logger = new Logger('queue');

  constructor(
    private readonly database: Database,
    private readonly terms: LeaseTerms,
    private readonly metrics: Metrics,
  ) {}

  /**
   * All of these runs or none. `serverSteps`: it is one run, and has steps that the server does itself, or may have; the others
   * are for nodes alone, so that their promotion is known to be whole with its one statement.
   */
  async promote(runs: Promotable[], whys: Why[], { serverSteps }: { serverSteps: boolean }): Promise<Promotion> {
    const work = async (tx: Tx): Promise<string[]> => {
      await failpoint('promote.before-grant');
      tx.send(promoteRuns(runs, whys, this.terms.ttlSeconds));
      const holds: string[] = [];
      for (const run of runs) {
        holds.push(...(await beginRun(tx, run.run_id, { matched: nodesOf(run), serverSteps, terms: this.terms })));
      }
      return holds;
    };
    try {
      const holds = await this.database.transaction('promote', work, { retry: false });
      this.metrics.promotions.inc(runs.length);
      for (const run of runs)
        this.#logger.log({ msg: 'a run was promoted', run_id: run.run_id, nodes: nodesOf(run), whys });
      return { kind: 'promoted', holds };
    } catch (error) {
      const why = isContention(error) ? 'collided' : refusal(error);
      if (why === 'not_queued' || why === 'collided') return { kind: why };
      throw error;
    }
  }
}

function nodesOf({ nodes }: Promotable): string[] {
  return nodes.map((node) => node.node_id);
}

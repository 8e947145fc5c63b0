import { Injectable } from '@nestjs/common';
import { THE_SERVER } from '../domain/verdict.js';
import { countFault } from '../fleet/faults.sql.js';
import type { Fleet } from '../fleet/fleet-view.js';
import { lockNodesOf } from '../fleet/fleet.sql.js';
import { Config } from '../platform/config/config.js';
import { Database } from '../platform/database/database.js';
import { Rollback } from '../platform/database/queryable.js';
import { ReturnRun } from '../queue/return-run.js';
import { lockRun } from '../records/runs.sql.js';
import { endRun } from '../steps/end-run.js';
import { hasBegun } from '../steps/steps.sql.js';
import type { ReaperPart } from './reaper-part.js';
import { readExpired, findExpired } from './reaper.sql.js';

/**
 * Takes the nodes of a run that one of them has left: a lease of it is over. Where nothing of the run has begun it waits once
 * more, at its old place; otherwise it ends. A heartbeat, an answer or a report that came first wins.
 */
@Injectable()
export class ExpiredRuns implements ReaperPart<string> {
  readonly name = 'expired';
  readonly wakes = 'reaper';

  constructor(
    private readonly database: Database,
    private readonly config: Config,
    private readonly returns: ReturnRun,
  ) {}

  find(): Promise<string[]> {
    return this.database.ask(findExpired());
  }

  async reap(runId: string): Promise<boolean> {
    return (await this.#reap(runId)) ?? (await this.#reap(runId, await this.returns.look()))!;
  }

  /** Undefined, and nothing changed: the run goes back to the queue, and for that the fleet has to be looked at first. */
  #reap(runId: string, fleet?: Fleet): Promise<boolean | undefined> {
    return this.database.transaction('expire', async (tx) => {
      // A renewal goes without the run's lock: one that is under way comes first.
      const held = await tx.ask(lockNodesOf(runId));
      if ((await tx.ask(lockRun(runId)))?.state !== 'RUNNING') return false;
      const nodes = await tx.ask(readExpired(runId, this.config.silenceSeconds));
      // A node that the run has taken meanwhile is not locked: the next pass takes it.
      if (nodes.length === 0 || !nodes.every((node) => held.has(node))) return false;
      const begun = await tx.ask(hasBegun(runId));
      if (!begun && fleet === undefined) throw new Rollback(undefined);
      countFault(tx, { nodes, run_id: runId, kind: 'lease_expired' }, this.config.quarantineAfter);
      if (!begun) {
        await this.returns.back(tx, runId, 'lease_expired', nodes, fleet!);
        return true;
      }
      const detail = `the lease of ${nodes.join(', ')} expired: no heartbeat came in time`;
      endRun(tx, runId, {
        state: 'FAILED',
        verdict: { reason: 'lease_expired', detail, by: THE_SERVER, checks: [] },
      });
      return true;
    });
  }
}

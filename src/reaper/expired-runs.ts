import { Injectable } from '@nestjs/common';
import { THE_SERVER } from '../domain/verdict.js';
import { lockLeases } from '../leases/leases.sql.js';
import { Config } from '../platform/config/config.js';
import { Database } from '../platform/database/database.js';
import { lockRun } from '../records/runs.sql.js';
import { endRun } from '../steps/end-run.js';
import type { ReaperPart } from './reaper-part.js';
import { readExpired, findExpired } from './reaper.sql.js';

/** Ends a run that a node has left: a lease of it ran out. A heartbeat, an answer or a report that came first wins. */
@Injectable()
export class ExpiredRuns implements ReaperPart<string> {
  readonly name = 'expired';
  readonly wakes = 'reaper';

  constructor(
    private readonly database: Database,
    private readonly config: Config,
  ) {}

  find(): Promise<string[]> {
    return this.database.ask(findExpired());
  }

  reap(runId: string): Promise<boolean> {
    return this.database.transaction('expire', async (tx) => {
      if ((await tx.ask(lockRun(runId)))?.state !== 'RUNNING') return false;
      // A renewal goes without the run's lock: one that is under way comes first.
      await tx.ask(lockLeases(runId));
      const nodes = await tx.ask(readExpired(runId, this.config.silenceSeconds));
      if (nodes.length === 0) return false;
      const detail = `the lease of ${nodes.join(', ')} expired: no heartbeat came in time`;
      endRun(tx, runId, {
        state: 'FAILED',
        verdict: { reason: 'lease_expired', detail, by: THE_SERVER, checks: [] },
      });
      return true;
    });
  }
}

import { Injectable } from '@nestjs/common';
import { isOver } from '../domain/states.js';
import { Database } from '../platform/database/database.js';
import type { Tx } from '../platform/database/queryable.js';
import type { IfMatch } from '../platform/http/if-match.js';
import type { Caller } from '../platform/http/principal.js';
import { Problem } from '../platform/http/problem.js';
import { appendEvent } from '../records/events.sql.js';
import { lockRun } from '../records/runs.sql.js';
import { endRun } from '../steps/end-run.js';
import { refuseOtherVersion } from './run-version.js';
import { readPrincipal } from './runs.sql.js';

/** `over`: it had ended before, and nothing changed. */
export type CancelOutcome = 'cancelled' | 'over' | 'unknown';

/** A person cancels a run, queued or under way. The lock decides a race against its end, and the end is then reported. */
@Injectable()
export class CancelRun {
  constructor(private readonly database: Database) {}

  /** Throws version_mismatch where the run is not as `ifMatch` has it, also where it is over. */
  cancel(runId: string, caller: Caller, reason: string | undefined, ifMatch?: IfMatch): Promise<CancelOutcome> {
    return this.database.transaction<CancelOutcome>('cancel', async (tx) => {
      if (caller.role === 'submitter') await refuseUnlessOwn(tx, runId, caller.name);
      const run = await tx.ask(lockRun(runId));
      if (run === undefined) return 'unknown';
      await refuseOtherVersion(tx, runId, ifMatch);
      if (isOver(run.state)) return 'over';
      const by = { kind: 'person', name: caller.name } as const;
      const detail = reason === undefined ? `cancelled by ${caller.name}` : `cancelled by ${caller.name}: ${reason}`;
      tx.send(appendEvent(runId, 'cancelled', { by: caller.name, reason }));
      endRun(tx, runId, { state: 'CANCELLED', verdict: { reason: 'cancelled', detail, by, checks: [] } });
      return 'cancelled';
    });
  }
}

/** Who submitted a run never changes: it is asked before the lock, for which a stranger does not wait. */
async function refuseUnlessOwn(tx: Tx, runId: string, name: string): Promise<void> {
  const principal = await tx.ask(readPrincipal(runId));
  if (principal === undefined || principal === name) return;
  throw new Problem('forbidden', `run ${runId} is not yours to cancel: ${principal} submitted it`);
}

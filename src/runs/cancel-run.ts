import { Injectable } from '@nestjs/common';
import { isOver } from '../domain/states.js';
import { Database } from '../platform/database/database.js';
import { appendEvent } from '../records/append-event.sql.js';
import { endRun } from '../steps/end-run.js';
import { lockRun } from '../steps/lock-run.sql.js';

/** `over`: it had ended before, and nothing changed. */
export type CancelOutcome = 'cancelled' | 'over' | 'unknown';

/** A person cancels a run, queued or under way. The lock decides a race against its end, and the end is then reported. */
@Injectable()
export class CancelRun {
  constructor(private readonly database: Database) {}

  cancel(runId: string, principal: string, reason: string | undefined): Promise<CancelOutcome> {
    return this.database.transaction<CancelOutcome>('cancel', async (tx) => {
      const run = await lockRun(tx, runId);
      if (run === undefined) return 'unknown';
      if (isOver(run.state)) return 'over';
      const by = { kind: 'person', name: principal } as const;
      const detail = reason === undefined ? `cancelled by ${principal}` : `cancelled by ${principal}: ${reason}`;
      await appendEvent(tx, runId, 'cancelled', { by: principal, reason });
      await endRun(tx, runId, { state: 'CANCELLED', verdict: { reason: 'cancelled', detail, by, checks: [] } });
      return 'cancelled';
    });
  }
}

import { Injectable } from '@nestjs/common';
import { THE_SERVER } from '../domain/verdict.js';
import { Config } from '../platform/config/config.js';
import { Database } from '../platform/database/database.js';
import { endRun } from '../steps/end-run.js';
import { failStep } from '../steps/fail-step.js';
import { lockRun } from '../steps/lock-run.sql.js';
import { findOverdueSteps, type Overdue } from './find-overdue.sql.js';
import { readOverdueStep } from './read-overdue.sql.js';
import type { ReaperPart } from './reaper-part.js';

/** Ends a run whose step was claimed for longer than the contract allows, and one renew period. A report that came first wins. */
@Injectable()
export class OverdueSteps implements ReaperPart<Overdue> {
  readonly name = 'timeouts';
  readonly wakes = 'reaper';

  constructor(
    private readonly database: Database,
    private readonly config: Config,
  ) {}

  find(): Promise<Overdue[]> {
    return findOverdueSteps(this.database, this.config.renewSeconds);
  }

  reap(overdue: Overdue): Promise<boolean> {
    const { run_id, seq } = overdue;
    return this.database.transaction('time-out', async (tx) => {
      if ((await lockRun(tx, run_id))?.state !== 'RUNNING') return false;
      const step = await readOverdueStep(tx, overdue, this.config.renewSeconds);
      if (step === undefined) return false;
      const error = `not done within ${step.timeout_seconds} s`;
      failStep(tx, run_id, seq, error);
      const detail = `step ${step.id} on node ${step.node_id} was ${error}`;
      endRun(tx, run_id, {
        state: 'FAILED',
        verdict: { reason: 'step_timeout', detail, by: THE_SERVER, checks: [] },
      });
      return true;
    });
  }
}

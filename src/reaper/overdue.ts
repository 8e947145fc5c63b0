import { Injectable } from '@nestjs/common';
import { BY_DEFAULT, THE_SERVER } from '../domain/verdict.js';
import { LeaseTerms } from '../leases/lease-terms.js';
import { Config } from '../platform/config/config.js';
import { Database } from '../platform/database/database.js';
import { lockRun } from '../records/runs.sql.js';
import { closeAsks } from '../steps/asks.sql.js';
import { endRun, failStep } from '../steps/end-run.js';
import { takeAnswer } from '../steps/take-answer.js';
import type { ReaperPart } from './reaper-part.js';
import { findOverdueAsks, type Overdue, readOverdueAsk, findOverdueSteps, readOverdueStep } from './reaper.sql.js';

/** Answers a question that is past its time by its default, or ends its run. An answer that came first wins. */
@Injectable()
export class OverdueAsks implements ReaperPart<Overdue> {
  readonly name = 'asks';
  readonly wakes = 'reaper';

  constructor(
    private readonly database: Database,
    private readonly terms: LeaseTerms,
  ) {}

  find(): Promise<Overdue[]> {
    return this.database.ask(findOverdueAsks());
  }

  reap(overdue: Overdue): Promise<boolean> {
    const { run_id, seq } = overdue;
    return this.database.transaction('expire-ask', async (tx) => {
      if ((await tx.ask(lockRun(run_id)))?.state !== 'RUNNING') return false;
      const ask = await tx.ask(readOverdueAsk(overdue));
      if (ask === undefined) return false;
      if (ask.default_answer !== null) {
        const { attempt, output, default_answer: answer } = ask;
        const given = { run_id, seq, attempt, answer, answered_by: BY_DEFAULT };
        return (await takeAnswer(tx, given, output, this.terms)) !== undefined;
      }
      tx.send(closeAsks(run_id, 'EXPIRED', [seq]));
      failStep(tx, run_id, seq, 'nobody answered in time');
      const detail = `nobody answered step ${ask.id} in time`;
      endRun(tx, run_id, {
        state: 'FAILED',
        verdict: { reason: 'ask_expired', detail, by: THE_SERVER, checks: [] },
      });
      return true;
    });
  }
}

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
    return this.database.ask(findOverdueSteps(this.config.renewSeconds));
  }

  reap(overdue: Overdue): Promise<boolean> {
    const { run_id, seq } = overdue;
    return this.database.transaction('time-out', async (tx) => {
      if ((await tx.ask(lockRun(run_id)))?.state !== 'RUNNING') return false;
      const step = await tx.ask(readOverdueStep(overdue, this.config.renewSeconds));
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

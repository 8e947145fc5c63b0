import { Injectable } from '@nestjs/common';
import { BY_DEFAULT } from '../domain/by-default.js';
import { THE_SERVER } from '../domain/verdict.js';
import { Config } from '../platform/config/config.js';
import { Database } from '../platform/database/database.js';
import { closeAsks } from '../steps/close-asks.sql.js';
import { endRun } from '../steps/end-run.js';
import { failStep } from '../steps/fail-step.js';
import { lockRun } from '../steps/lock-run.sql.js';
import { takeAnswer } from '../steps/take-answer.js';
import { termsOf } from '../steps/terms-of.js';
import { findOverdueAsks, type Overdue } from './find-overdue.sql.js';
import { readOverdueAsk } from './read-overdue.sql.js';
import type { ReaperPart } from './reaper-part.js';

/** Answers a question that is past its time by its default, or ends its run. An answer that came first wins. */
@Injectable()
export class OverdueAsks implements ReaperPart<Overdue> {
  readonly name = 'asks';
  readonly wakes = 'reaper';

  constructor(
    private readonly database: Database,
    private readonly config: Config,
  ) {}

  find(): Promise<Overdue[]> {
    return findOverdueAsks(this.database);
  }

  reap(overdue: Overdue): Promise<boolean> {
    const { run_id, seq } = overdue;
    return this.database.transaction('expire-ask', async (tx) => {
      if ((await lockRun(tx, run_id))?.state !== 'RUNNING') return false;
      const ask = await readOverdueAsk(tx, overdue);
      if (ask === undefined) return false;
      if (ask.default_answer !== null) {
        const { attempt, output, default_answer: answer } = ask;
        const given = { run_id, seq, attempt, answer, answered_by: BY_DEFAULT };
        return (await takeAnswer(tx, given, output, termsOf(this.config))) !== undefined;
      }
      closeAsks(tx, run_id, 'EXPIRED', [seq]);
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

import { Injectable } from '@nestjs/common';
import type { JsonDocument } from '../domain/json/read-json.js';
import { LeaseTerms } from '../leases/lease-terms.js';
import { Database } from '../platform/database/database.js';
import { failpoint } from '../platform/failpoints.js';
import type { IfMatch } from '../platform/http/if-match.js';
import { Problem } from '../platform/http/problem.js';
import { Judging } from '../platform/judging/judging.js';
import { lockRun } from '../records/runs.sql.js';
import { refuseOtherVersion } from '../runs/run-version.js';
import { type Answered, takeAnswer } from '../steps/take-answer.js';
import { type Question, readQuestion } from './asks.sql.js';
import { judgeAnswer, type OpenQuestion, refuseStrangers } from './judge-answer.js';

export interface AnswerOf {
  run_id: string;
  seq: number;
  principal: string;
  answer: JsonDocument;
  /** Which versions of the run the answer is meant for. */
  if_match?: IfMatch;
}

/**
 * Takes a person's answer. It is judged before the transaction: a schema may take its time, and what does not fit locks
 * nothing. Then, in one: the question closed, the answer kept as the step's output, the step finished, the run settled.
 * Of two answers, or an answer and whatever else ends the question, the one that locks the run first counts.
 */
@Injectable()
export class AnswerAsk {
  constructor(
    private readonly database: Database,
    private readonly terms: LeaseTerms,
    private readonly judging: Judging,
  ) {}

  async answer(given: AnswerOf): Promise<Answered> {
    const { run_id, seq, principal, answer, if_match } = given;
    const question = await this.database.ask(readQuestion(run_id, seq));
    refuseStrangers(given, question);
    const judged = await this.#judge(given, question);
    // With a condition the version comes first, and that is known under the lock.
    if (judged instanceof Problem && if_match === undefined) throw judged;
    await failpoint('answer.judged');
    return this.database.transaction('answer', async (tx) => {
      const locked = await tx.ask(lockRun(run_id));
      await failpoint('answer.locked');
      await refuseOtherVersion(tx, run_id, if_match);
      if (judged instanceof Problem) throw judged;
      const { attempt, output } = judged;
      const taken =
        locked?.state === 'RUNNING' &&
        (await takeAnswer(
          tx,
          { run_id, seq, attempt, answer: answer.text, answered_by: principal },
          output,
          this.terms,
        ));
      if (!taken) throw new Problem('not_asked', 'the question was closed in the meantime');
      return taken;
    });
  }

  /** What is to be said of the answer, where it is refused. */
  async #judge({ principal, answer }: AnswerOf, question: Question & { id: string }): Promise<OpenQuestion | Problem> {
    try {
      return await judgeAnswer(answer.value, question, (schema, value) =>
        this.judging.answer(principal, schema, value),
      );
    } catch (error) {
      if (error instanceof Problem) return error;
      throw error;
    }
  }
}

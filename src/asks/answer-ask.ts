import { Injectable } from '@nestjs/common';
import type { JsonDocument } from '../domain/json/read-json.js';
import { rawJson } from '../domain/json/raw-json.js';
import type { RunState, StepState } from '../domain/states.js';
import { Config } from '../platform/config/config.js';
import { Database } from '../platform/database/database.js';
import type { IfMatch } from '../platform/http/if-match.js';
import { Problem } from '../platform/http/problem.js';
import { point } from '../platform/points.js';
import { appendEvent } from '../records/append-event.sql.js';
import { storeOutput } from '../records/store-output.sql.js';
import { refuseOtherVersion } from '../runs/refuse-other-version.js';
import { answerAsk } from '../steps/answer-ask.sql.js';
import { finishStep } from '../steps/finish-step.js';
import { lockRun } from '../steps/lock-run.sql.js';
import { readGraph } from '../steps/read-graph.sql.js';
import { settle } from '../steps/settle.js';
import { termsOf } from '../steps/terms-of.js';
import { judgeAnswer, type OpenQuestion, refuseStrangers } from './judge-answer.js';
import { type Question, readQuestion } from './read-question.sql.js';

export interface AnswerOf {
  run_id: string;
  seq: number;
  principal: string;
  answer: JsonDocument;
  /** Which versions of the run the answer is meant for. */
  if_match?: IfMatch;
}

export interface Answered {
  step_state: StepState;
  run_state: RunState;
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
    private readonly config: Config,
  ) {}

  async answer(given: AnswerOf): Promise<Answered> {
    const { run_id, seq, principal, answer, if_match } = given;
    const question = await readQuestion(this.database, run_id, seq);
    refuseStrangers(given, question);
    const judged = judge(answer.value, question);
    // With a condition the version comes first, and that is known under the lock.
    if (judged instanceof Problem && if_match === undefined) throw judged;
    await point('answer.judged');
    return this.database.transaction('answer', async (tx) => {
      const locked = await lockRun(tx, run_id);
      await point('answer.locked');
      await refuseOtherVersion(tx, run_id, if_match);
      if (judged instanceof Problem) throw judged;
      const { attempt, output } = judged;
      const closing = { run_id, seq, attempt, answer: answer.text, answered_by: principal };
      if (locked?.state !== 'RUNNING' || !(await answerAsk(tx, closing))) {
        throw new Problem('not_asked', 'the question has been closed meanwhile');
      }
      const body = Buffer.from(answer.text);
      await storeOutput(tx, { run_id, seq, attempt, name: output, media_type: 'application/json', body });
      appendEvent(tx, run_id, 'answered', { seq, attempt, by: principal });
      const run = (await readGraph(tx, run_id))!;
      const result = { produced: [output], answer: rawJson(answer.text), answered_by: principal };
      const step_state = await finishStep(tx, run, run.graph.step(seq), result, { kind: 'done' }, termsOf(this.config));
      const settled = await settle(tx, run, { kind: 'person', name: principal });
      return { step_state, run_state: settled?.state ?? 'RUNNING' };
    });
  }
}

/** What is to be said of the answer, where it is refused. */
function judge(answer: unknown, question: Question & { id: string }): OpenQuestion | Problem {
  try {
    return judgeAnswer(answer, question);
  } catch (error) {
    if (error instanceof Problem) return error;
    throw error;
  }
}

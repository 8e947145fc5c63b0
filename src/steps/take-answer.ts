import { storeOutput } from '../bodies/outputs.sql.js';
import { rawJson } from '../domain/json/raw-json.js';
import type { RunState, StepState } from '../domain/states.js';
import { BY_DEFAULT, THE_SERVER } from '../domain/verdict.js';
import type { LeaseTerms } from '../leases/lease-terms.js';
import type { Tx } from '../platform/database/queryable.js';
import { appendEvent } from '../records/events.sql.js';
import { answerAsk, type GivenAnswer } from './asks.sql.js';
import { settle } from './end-run.js';
import { finishStep } from './finish-step.js';
import { readGraph } from './graph.sql.js';

/** What has become of the step and the run. */
export interface Answered {
  step_state: StepState;
  run_state: RunState;
}

/**
 * Takes an answer that fits, a person's or the default, with all that follows from it: the question closed, the answer kept as the
 * step's output, the step finished, the run settled. Undefined: the question is not open. Its run is locked and RUNNING.
 */
export async function takeAnswer(
  tx: Tx,
  given: GivenAnswer,
  output: string,
  terms: LeaseTerms,
): Promise<Answered | undefined> {
  const { run_id, seq, attempt, answer, answered_by } = given;
  if (!(await tx.ask(answerAsk(given)))) return undefined;
  const body = Buffer.from(answer);
  await tx.ask(storeOutput({ run_id, seq, attempt, name: output, media_type: 'application/json', body }));
  tx.send(appendEvent(run_id, 'answered', { seq, attempt, by: answered_by }));
  const run = (await tx.ask(readGraph(run_id)))!;
  const result = { produced: [output], answer: rawJson(answer), answered_by };
  const step_state = await finishStep(tx, run, run.graph.step(seq), result, { kind: 'done' }, terms);
  const by = answered_by === BY_DEFAULT ? THE_SERVER : ({ kind: 'person', name: answered_by } as const);
  const settled = await settle(tx, run, by);
  return { step_state, run_state: settled?.state ?? 'RUNNING' };
}

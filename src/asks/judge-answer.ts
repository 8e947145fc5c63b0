import type { Fault } from '../domain/json/fault-list.js';
import type { JsonDocument } from '../domain/json/read-json.js';
import { Problem, refuseFaults } from '../platform/http/problem.js';
import type { Question } from './asks.sql.js';

/** Takes the body as an answer: whatever JSON it is, with keys of any name, since only its schema knows them. */
export function acceptAnswer(body: JsonDocument | undefined): JsonDocument {
  if (body === undefined) throw new Problem('invalid_request', 'the body must be the answer, as JSON');
  refuseFaults(body.faults);
  return body;
}

export interface OpenQuestion {
  attempt: number;
  output: string;
}

/** Refuses who may not answer, and what is not there: 404, 403. */
export function refuseStrangers(
  { run_id, seq, principal }: { run_id: string; seq: number; principal: string },
  question: Question | undefined,
): asserts question is Question & { id: string } {
  if (question === undefined) throw new Problem('not_found', `there is no run ${run_id}`);
  if (question.id === null) throw new Problem('not_found', `run ${run_id} has no step ${seq}`);
  if (question.state === null || mayAnswer(question.answerers, principal)) return;
  const asked = listed(question.answerers ?? []);
  throw new Problem('not_answerer', `step ${question.id} does not ask ${principal}; it asks ${asked}`);
}

/**
 * Refuses an answer that nobody waits for, or that does not fit: 409, 422, in this order. Gives the question
 * that it answers. By itself it decides nothing: whether the question is open is asked again under the run's lock.
 */
export async function judgeAnswer(
  answer: unknown,
  question: Question & { id: string },
  judge: (schema: unknown, answer: unknown) => Promise<Fault[]>,
): Promise<OpenQuestion> {
  if (question.state === null) throw new Problem('not_asked', `step ${question.id} has no open question at the moment`);
  const { state, id, attempt, output, schema } = question;
  if (state !== 'OPEN') throw new Problem('not_asked', `the question of step ${id} ${ended(question)}`);

  const faults = await judge(schema, answer);
  if (faults.length > 0) {
    const detail = faults.map((fault) => `${fault.pointer || 'the answer'}: ${fault.detail}`).slice(0, 3);
    const more = faults.length > detail.length ? ` and ${faults.length - detail.length} more` : '';
    throw new Problem('schema_violation', detail.join('; ') + more, { errors: faults });
  }
  return { attempt, output };
}

function ended(question: Question & { answered_by?: string | null }): string {
  if (question.state === 'ANSWERED') return `was already answered by ${question.answered_by}`;
  return question.state === 'EXPIRED' ? 'has expired' : 'was withdrawn';
}

const SHOWN_NAMES = 20;

function listed(names: string[]): string {
  const more = names.length > SHOWN_NAMES ? ` and ${names.length - SHOWN_NAMES} more` : '';
  return names.slice(0, SHOWN_NAMES).join(', ') + more;
}

/** Whether this principal may answer a question: those who are named; if nobody is, all who may submit. An operator who is not named may not. */
export function mayAnswer(answerers: readonly string[] | null, principal: string): boolean {
  return answerers === null || answerers.includes(principal);
}

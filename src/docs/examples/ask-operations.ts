import { APPROVAL } from './contracts.js';
import type { OperationExamples } from './example.js';

const QUESTION = {
  run_id: 'change-4711-ps3',
  seq: 2,
  id: 'approve',
  prompt: 'Flash the image?',
  schema: APPROVAL,
  answerers: null,
  asked_at: '2026-03-02T09:38:20.318Z',
  deadline: null,
  can_answer: true,
  shown: [{ name: 'image', media_type: 'application/octet-stream', size: 481223 }],
};

export const listAsks: OperationExamples = {
  answers: {
    200: {
      one: { summary: 'One question is open', value: { items: [QUESTION], next: null } },
      none: { summary: 'Nothing is asked', value: { items: [], next: null } },
    },
  },
  problems: { invalid_request: { detail: 'cursor must be the `next` of an earlier page' } },
};

const answered = { run_id: 'change-4711-ps3', seq: 2, rolled_back: false };

export const answerAsk: OperationExamples = {
  parameters: { seq: QUESTION.seq },
  request: { yes: { summary: 'As its schema wants it', value: { ok: true } } },
  answers: {
    200: {
      last: { summary: 'It was the last step', value: { ...answered, step_state: 'DONE', run_state: 'SUCCEEDED' } },
      next: { summary: 'The run goes on', value: { ...answered, step_state: 'DONE', run_state: 'RUNNING' } },
    },
  },
  problems: {
    invalid_request: { detail: 'the body must be the answer, as JSON' },
    not_answerer: { detail: 'step approve does not ask ci; it asks lab-desk' },
    not_found: { detail: 'run change-4711-ps3 has no step 2' },
    not_asked: { detail: 'the question of step approve was already answered by lab-desk' },
    schema_violation: {
      detail: '/ok: The value must be boolean.',
      errors: [{ pointer: '/ok', detail: 'The value must be boolean.' }],
    },
  },
};

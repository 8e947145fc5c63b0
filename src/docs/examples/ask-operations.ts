import type { OperationExamples } from './example.js';

const QUESTION = {
  run_id: 'change-4711-ps3',
  seq: 2,
  id: 'look',
  prompt: 'Does the LED blink?',
  schema: { type: 'object', required: ['ok'], properties: { ok: { type: 'boolean' } } },
  answerers: ['lab-desk'],
  asked_at: '2026-03-02T09:41:37.904Z',
  deadline: '2026-03-03T09:41:37.904Z',
  can_answer: true,
  shown: [
    { name: 'console', media_type: 'text/plain', size: 21, text: 'LED: 1\nLED: 0\nLED: 1\n' },
    { name: 'photo', media_type: 'image/jpeg', size: 481223 },
  ],
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
  request: { yes: { summary: 'As its schema wants it', value: { ok: true } } },
  answers: {
    200: {
      last: { summary: 'It was the last step', value: { ...answered, step_state: 'DONE', run_state: 'SUCCEEDED' } },
      next: { summary: 'The run goes on', value: { ...answered, step_state: 'DONE', run_state: 'RUNNING' } },
    },
  },
  problems: {
    invalid_request: { detail: 'the body must be the answer, as JSON' },
    not_answerer: { detail: 'step look does not ask ci; it asks lab-desk' },
    not_found: { detail: 'run change-4711-ps3 has no step 2' },
    not_asked: { detail: 'the question of step look was answered by lab-desk already' },
    schema_violation: {
      detail: '/ok: The value must be boolean.',
      errors: [{ pointer: '/ok', detail: 'The value must be boolean.' }],
    },
  },
};

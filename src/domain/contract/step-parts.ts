import { object } from './declared/objects.js';
import { anyObject, integer, list, text } from './declared/shape.js';
import { OUTPUT_NAME, PRINCIPAL, PROMPT, STEP_NAME } from './names.js';
import { WANTED } from './requirement.js';

const MOST_ATTEMPTS = 100;
const YEAR_SECONDS = 31_536_000;
const CHOICES = 'the ids of at least two later steps to choose from.';

export const DISPATCH = object({
  name: 'Dispatch',
  about: "Chooses what comes next by the step's output: the targets that are not chosen are skipped.",
  says: '"dispatch" is an object with "from" and "to".',
  fields: {
    from: {
      shape: text(OUTPUT_NAME),
      required: 'an output of this step, and the fields that lead to the choice.',
      means: '`<out>[.<field>…]`: an output of this step (JSON) and the fields that lead to the choice.',
    },
    to: {
      shape: list(text(STEP_NAME), { least: 2, unique: true, says: `"to" is an array: ${CHOICES}` }),
      required: CHOICES,
      means: 'Ids of later steps, one of which is chosen.',
    },
  },
});

/** What a loop's `until` and a condition judge a step by: at least one of them. */
export const JUDGED = {
  exit_code: {
    shape: integer(Number.MIN_SAFE_INTEGER, Number.MAX_SAFE_INTEGER, () => '"exit_code" is an integer.'),
    means: 'Of a run step. Another than 0 needs `allow_failure` on the step.',
  },
  produced: {
    shape: list(text(OUTPUT_NAME), { says: '"produced" is an array of names of outputs.' }),
    means: 'Outputs that must have been uploaded in the last attempt.',
  },
};
export const NOTHING_JUDGED = 'At least one of "exit_code" and "produced" must be given here.';

const UNTIL = object({
  name: 'LoopEnd',
  about: 'What ends a loop: `exit_code`, `produced` or both.',
  says: '"until" is an object with "exit_code", "produced" or both.',
  some: NOTHING_JUDGED,
  fields: JUDGED,
});

const ATTEMPTS = `an integer from 2 to ${MOST_ATTEMPTS}.`;

export const LOOP = object({
  name: 'Loop',
  about: 'Goes back and does the steps from there on again, until it is met or the attempts are used up.',
  says: '"loop" is an object with "back_to", "max" and "until".',
  fields: {
    back_to: {
      shape: text(STEP_NAME),
      required: 'this step or an earlier one.',
      means: 'This step or an earlier one.',
    },
    max: {
      shape: integer(2, MOST_ATTEMPTS, () => `"max" is ${ATTEMPTS}`),
      required: ATTEMPTS,
      means: 'How many attempts at most.',
    },
    until: { shape: UNTIL, required: 'the condition that ends the loop.', means: 'What ends it before.' },
  },
});

export const ACQUIRE = object({
  name: 'Acquire',
  about: 'One more node for a role. Its result never fails the run, it chooses a branch.',
  says: '"acquire" is an object with "want", "acquired" and "unavailable".',
  fields: {
    want: { shape: WANTED, required: 'the requirement that the acquired node has to meet.', means: 'What is needed.' },
    acquired: {
      shape: text(STEP_NAME),
      required: 'the step that is chosen when a node is acquired.',
      means: 'The later step that is chosen when a node was taken.',
    },
    unavailable: {
      shape: text(STEP_NAME),
      required: 'the step that is chosen when no node is free.',
      means: 'The later step that is chosen when there was none, or the run holds as many as it may.',
    },
  },
});

export const ANSWER = anyObject(
  {
    name: 'Answer',
    about: 'What a person answers, or the contract by default: an object that satisfies the schema of the question.',
  },
  '"default" is an object: the answer that is taken when the time is up.',
);

export const ASK = object({
  name: 'Ask',
  about: 'A question to a person.',
  says: '"ask" is an object with "prompt".',
  together: [{ given: 'default', needed: 'timeout_seconds', says: '"default" is taken when that time is up.' }],
  fields: {
    prompt: { shape: text(PROMPT), required: PROMPT.says, means: 'What is asked.' },
    answerers: {
      // An empty list would be read as "anybody" by one and as "nobody" by another.
      shape: list(text(PRINCIPAL), {
        least: 1,
        says: '"answerers" is an array of at least one name; leave it out to let any submitter answer.',
      }),
      means: 'Only these may answer. Absent: whoever may submit.',
    },
    timeout_seconds: {
      shape: integer(1, YEAR_SECONDS, (range) => `"timeout_seconds" of a question is an integer ${range}.`),
      means:
        'Open for longer, the question is answered by its `default`; without one the step fails with `ask_expired`. Absent: ' +
        'it waits for ever.',
    },
    default: {
      shape: ANSWER,
      means:
        'Taken as the answer when `timeout_seconds`, which it needs, are over: it satisfies the schema, and where the step has ' +
        'a `dispatch` it names one of `to`. `answered_by` is then `default`.',
    },
    show: {
      shape: list(text(OUTPUT_NAME), { says: '"show" is an array of names of outputs.' }),
      means: 'Outputs of other steps that are shown with the question.',
    },
  },
});

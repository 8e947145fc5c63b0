import { object } from './declared/objects.js';
import { flag, integer, list, type Shape, text, type ValueOf } from './declared/shape.js';
import { RUN_ID, STEP_NAME, WORK_PART } from './names.js';
import { REQUIREMENT } from './requirement.js';
import { JUDGED, NOTHING_JUDGED } from './step-parts.js';
import { STEP } from './step-kinds.js';

const MOST_ROLES = 64;
export const MOST_STEPS = 500;
const ROLES = `an array of 1 to ${MOST_ROLES} requirements.`;
const STEPS = `an array of 1 to ${MOST_STEPS} steps.`;
const BOTH = 'a work id needs both "system" and "change_id".';

/** Whatever it says besides is kept. */
export const WORK: Shape<Record<string, unknown>> = object({
  name: 'Work',
  about: 'What the run is about. `system` and `change_id` give the work id; other keys are kept and shown.',
  says: '"work" is an object.',
  open: true,
  together: [
    { given: 'system', needed: 'change_id', says: BOTH },
    { given: 'change_id', needed: 'system', says: BOTH },
  ],
  fields: {
    system: { shape: text(WORK_PART), means: 'Where the work is known, such as `gerrit`.' },
    change_id: { shape: text(WORK_PART), means: 'What it is called there.' },
  },
});

export const REQUIREMENTS = list(REQUIREMENT, { least: 1, most: MOST_ROLES, says: `"requires" is ${ROLES}` });

export const CONDITION = object({
  name: 'Condition',
  about:
    'One thing that must hold when the last step has ended: `exit_code`, `produced` or both. On a step that was skipped it ' +
    'holds, unless a branch had chosen that step.',
  says: 'A condition is an object with "step" and "exit_code", "produced" or both.',
  some: NOTHING_JUDGED,
  fields: {
    step: { shape: text(STEP_NAME), required: STEP_NAME.says, means: 'The id of the step that is judged.' },
    ...JUDGED,
  },
});

/**
 * The contract, declared once: the parser reads it, its type is inferred, and the API document and what a claim gives of
 * its step are made from it.
 */
export const CONTRACT = object({
  name: 'Contract',
  about:
    'Which nodes a run needs, what is done on them, and when that counts as a success. At most 256 KiB. Unknown keys are ' +
    'refused, except inside `agent`, `work`, `attrs` and `schema`. It is stored as submitted and never rewritten.',
  says: 'A contract is an object with "requires" and "steps".',
  fields: {
    version: { shape: integer(1, 1, () => '"version" is 1, or left out.'), means: 'Of the format. Absent: 1.' },
    run_id: {
      shape: text(RUN_ID),
      means:
        'What makes a submission safe to repeat. Made by the server where it is absent and there is no Idempotency-Key.',
    },
    work: { shape: WORK, means: 'What the run is about.' },
    requires: {
      shape: REQUIREMENTS,
      required: ROLES,
      means: 'The roles of the run. All their nodes are leased at once, or none.',
    },
    spread: {
      shape: flag('"spread" is true or false.'),
      means: 'True: no node serves two roles of this run. Absent: false.',
    },
    steps: {
      shape: list(STEP, { least: 1, most: MOST_STEPS, says: `"steps" is ${STEPS}` }),
      required: STEPS,
      means: 'In the order in which they are done, unless `needs` says otherwise.',
    },
    success_when: {
      shape: list(CONDITION, { says: '"success_when" is an array of conditions.' }),
      means: 'All must hold. Absent or empty: every step that was not skipped is DONE.',
    },
  },
});

/** A contract as it was submitted: valid, and unchanged. Defaults are read by whoever needs them, never written into it. */
export type Contract = ValueOf<typeof CONTRACT>;
export type Requirement = ValueOf<typeof REQUIREMENT>;
export type StepSpec = ValueOf<typeof STEP>;
export type StepKind = keyof typeof STEP.kinds;
export type Condition = ValueOf<typeof CONDITION>;

/** What the API document says of the contract and its parts, by the names of the schemas. */
export const CONTRACT_SCHEMAS = CONTRACT.named;

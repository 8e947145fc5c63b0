import { choice } from './declared/choice.js';
import { type Field, object } from './declared/objects.js';
import { anyObject, flag, integer, list, text } from './declared/shape.js';
import { ACQUIRE, ASK, DISPATCH, LOOP } from './step-parts.js';
import { ARGUMENT, ID, OUTPUT, OUTPUT_NAME, ROLE_NAME, STEP_NAME, VARIABLE } from './names.js';

const WEEK_SECONDS = 604_800;

/** A field of a step that a node does. */
interface StepField extends Field {
  /** What it means to the node, which gets it with its claim; false: the node does not get it. */
  toNode: string | false;
}

export type StepFields = Readonly<Record<string, StepField>>;

const EVERY_STEP = {
  id: {
    shape: text(ID),
    required: ID.says,
    means: 'Unique in the contract.',
    toNode: 'As in the contract.',
  },
  needs: {
    shape: list(text(STEP_NAME), { unique: true, says: '"needs" is an array of ids of earlier steps.' }),
    means:
      'Ids of earlier steps that must have ended before. `[]` waits for nothing. Absent: the step that names this one as a ' +
      'branch, else the step before it.',
    toNode: false,
  },
} satisfies StepFields;

const PRODUCING_STEP = {
  release: {
    shape: list(text(ROLE_NAME), { says: '"release" is an array of names of roles.' }),
    means: 'Roles that are given back when this step is done. Every other step that uses such a role must come before.',
    toNode: false,
  },
  dispatch: { shape: DISPATCH, means: 'Which step comes next, by an output of this one.', toNode: false },
} satisfies StepFields;

const schemas = anyObject(
  {
    name: 'OutputSchemas',
    about:
      'Name of an output → the JSON Schema (2020-12) that it must satisfy, at most 32 KiB and 1,000 keywords, names and values ' +
      '(1,500 in all schemas of a contract), with `$ref` only within itself.',
  },
  '"schema" is an object that maps names of outputs to JSON Schemas.',
  { type: ['object', 'boolean'] },
);

const NODE_STEP = {
  uses: {
    shape: text(ROLE_NAME),
    required: 'the role whose node runs this step.',
    means: 'The role whose first node does it.',
    toNode: 'The role in which the node does it.',
  },
  in: {
    shape: list(text(OUTPUT_NAME), { says: '"in" is an array of names of outputs of other steps.' }),
    means: 'Outputs of steps before it, to be downloaded first.',
    toNode: 'Outputs to download first.',
  },
  out: {
    shape: list(text(OUTPUT), { says: '"out" is an array of the names this step promises to produce.' }),
    means: 'Outputs it promises. One that is not uploaded fails the step.',
    toNode: 'Outputs to upload.',
  },
  schema: {
    shape: schemas,
    means: 'What the outputs must satisfy: an upload that does not is refused.',
    toNode: 'What the outputs must satisfy.',
  },
  env: {
    shape: list(text(VARIABLE), { says: '"env" is an array of names of environment variables.' }),
    means: 'Names, never values, of environment variables that the node passes through.',
    toNode: 'Names of environment variables to pass through.',
  },
  timeout_seconds: {
    shape: integer(1, WEEK_SECONDS, (range) => `"timeout_seconds" is an integer ${range}.`),
    means: 'Claimed for longer, the step fails with `step_timeout`.',
    toNode: 'The step fails when it takes longer.',
  },
  loop: { shape: LOOP, means: 'Where to go back to, until when.', toNode: false },
} satisfies StepFields;

/** Said nowhere: what kind a step is of is judged before. */
const ITS_KIND = 'it says of which kind the step is.';

/** A schema is about an output. */
const together = [
  { given: 'schema', needed: 'out', says: '"schema" describes the outputs in "out"; add "out".', at: 'given' },
] as const;
const says = 'A step is an object with "id" and one of "run", "agent", "acquire" and "ask".';

export const RUN_STEP = object({
  name: 'ContractRunStep',
  about: 'Runs a program on a node.',
  says,
  together,
  fields: {
    ...EVERY_STEP,
    run: {
      shape: list(text(ARGUMENT), {
        least: 1,
        says: '"run" is the argument vector: an array of at least one string.',
      }),
      required: ITS_KIND,
      means: 'The argument vector; no shell reads it.',
      toNode: 'The argument vector; no shell reads it.',
    },
    ...NODE_STEP,
    ...PRODUCING_STEP,
    allow_failure: {
      shape: flag('"allow_failure" is true or false.'),
      means:
        'True: the step is done whatever its exit code, and only `success_when` judges it. Absent: false, and another exit ' +
        'code than 0 fails the step and the run.',
      toNode: false,
    },
  } satisfies StepFields,
});

export const AGENT_STEP = object({
  name: 'ContractAgentStep',
  about: 'Hands a task to an agent on a node.',
  says,
  together,
  fields: {
    ...EVERY_STEP,
    agent: {
      shape: anyObject(
        { name: 'AgentTask', about: 'What an agent is to do: any object, handed to the node as it is.' },
        '"agent" is an object, which is handed to the node unchanged.',
      ),
      required: ITS_KIND,
      means: 'The task. Presence counts: `{}` is one.',
      toNode: 'The task, as it stands in the contract.',
    },
    ...NODE_STEP,
    ...PRODUCING_STEP,
  } satisfies StepFields,
});

const ACQUIRE_STEP = object({
  name: 'ContractAcquireStep',
  about: 'Takes one more node while the run is going, done by the server itself.',
  says,
  fields: {
    ...EVERY_STEP,
    acquire: { shape: ACQUIRE, required: ITS_KIND, means: 'What is wanted, and which step is chosen then.' },
  },
});

const ASK_STEP = object({
  name: 'ContractAskStep',
  about: 'Asks a person. The answer is its output.',
  says,
  fields: {
    ...EVERY_STEP,
    ask: { shape: ASK, required: ITS_KIND, means: 'The question.' },
    out: {
      shape: list(text(OUTPUT), { least: 1, most: 1, says: 'A question has exactly one output, its answer.' }),
      required: 'a question has exactly one output, its answer.',
      means: 'The one output that the answer becomes.',
    },
    schema: {
      shape: schemas,
      required: 'an answer needs a schema.',
      means:
        'What the answer must satisfy, for its one output: an object at the top level, so that a form can be drawn from it.',
    },
    ...PRODUCING_STEP,
  },
});

export const STEP = choice({
  name: 'ContractStep',
  about: 'One step of a contract: exactly one of `run`, `agent`, `acquire` and `ask` says what it does.',
  noun: 'step',
  says,
  kinds: { run: RUN_STEP, agent: AGENT_STEP, acquire: ACQUIRE_STEP, ask: ASK_STEP },
});

export const STEP_KINDS = Object.keys(STEP.kinds) as readonly (keyof typeof STEP.kinds)[];

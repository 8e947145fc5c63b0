import { STEP_KINDS, type StepKind } from '../contract.js';
import { NO_NAMES, type Names, type Place, type TextRule } from '../document/place.js';
import { ARGUMENT, ID, OUTPUT, OUTPUT_NAME, ROLE_NAME, STEP_NAME, VARIABLE } from '../names.js';
import type { StepDraft } from './draft.js';
import { readAcquire } from './read-acquire.js';
import { readAsk } from './read-ask.js';
import { readDispatch } from './read-dispatch.js';
import { readLoop } from './read-loop.js';

/** Which kinds of step may have a field; those that are not listed here may stand on every step. */
const ALLOWED_ON: Readonly<Record<string, readonly StepKind[]>> = {
  uses: ['run', 'agent'],
  in: ['run', 'agent'],
  out: ['run', 'agent', 'ask'],
  schema: ['run', 'agent', 'ask'],
  env: ['run', 'agent'],
  timeout_seconds: ['run', 'agent'],
  allow_failure: ['run'],
  release: ['run', 'agent', 'ask'],
  dispatch: ['run', 'agent', 'ask'],
  loop: ['run', 'agent'],
};

const KEYS = ['id', ...STEP_KINDS, 'needs', ...Object.keys(ALLOWED_ON)];
const WEEK_SECONDS = 604_800;

export function readStep(place: Place, seq: number): StepDraft {
  place.closedObject(KEYS, 'A step is an object with "id" and one of "run", "agent", "acquire" and "ask".');
  const kind = readKind(place);
  const field = (key: string): Place | undefined => allowedField(place, key, kind);
  const names = (key: string, rule: TextRule, says: string): Names => field(key)?.names(rule, says) ?? NO_NAMES;
  const optional = <T>(key: string, read: (at: Place) => T): T | undefined => {
    const at = field(key);
    return at && read(at);
  };

  place.member('run')?.names(ARGUMENT, '"run" is the argument vector: an array of at least one string.', 1);
  place.member('agent')?.object('"agent" is an object, which is handed to the node unchanged.');
  field('env')?.names(VARIABLE, '"env" is an array of names of environment variables.');
  field('timeout_seconds')?.integer(1, WEEK_SECONDS, `"timeout_seconds" is an integer from 1 to ${WEEK_SECONDS}.`);

  return {
    seq,
    place,
    id: place.isObject ? place.required('id', ID.says)?.name(ID) : undefined,
    kind,
    uses: readUses(place, field('uses'), kind),
    needs: place.member('needs')?.names(STEP_NAME, '"needs" is an array of ids of earlier steps.'),
    in: names('in', OUTPUT_NAME, '"in" is an array of names of outputs of other steps.'),
    out: names('out', OUTPUT, '"out" is an array of the names this step promises to produce.'),
    schema: field('schema')?.object('"schema" is an object that maps names of outputs to JSON Schemas.'),
    allowFailure: readAllowFailure(field('allow_failure')),
    release: names('release', ROLE_NAME, '"release" is an array of names of roles.'),
    dispatch: optional('dispatch', readDispatch),
    loop: optional('loop', readLoop),
    acquire: optional('acquire', readAcquire),
    ask: optional('ask', readAsk),
  };
}

/** Presence counts: `agent: {}` is a kind. */
function readKind(step: Place): StepKind | undefined {
  if (!step.isObject) return undefined;
  const present = STEP_KINDS.filter((kind) => step.member(kind) !== undefined);
  if (present.length === 1) return present[0];
  const found = present.length === 0 ? 'has none' : `has ${present.map((kind) => `"${kind}"`).join(' and ')}`;
  return step.fault(`A step has exactly one of "run", "agent", "acquire" and "ask"; this one ${found}.`);
}

/** A field in the wrong place is refused for that, and not read: what it says does not matter. */
function allowedField(step: Place, key: string, kind: StepKind | undefined): Place | undefined {
  const field = step.member(key);
  const allowed = ALLOWED_ON[key];
  if (field === undefined || kind === undefined || allowed === undefined || allowed.includes(kind)) return field;
  return field.fault(
    `"${key}" is not allowed on a step with "${kind}"; it belongs to ${allowed.map((on) => `"${on}"`).join(', ')}.`,
  );
}

function readUses(step: Place, uses: Place | undefined, kind: StepKind | undefined): StepDraft['uses'] {
  if (uses !== undefined) return uses.name(ROLE_NAME);
  if (kind !== 'run' && kind !== 'agent') return undefined;
  return step.required('uses', 'the role whose node runs this step.')?.name(ROLE_NAME);
}

function readAllowFailure(place: Place | undefined): boolean | undefined {
  return place === undefined ? false : place.boolean('"allow_failure" is true or false.');
}

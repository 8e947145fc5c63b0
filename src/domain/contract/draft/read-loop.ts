import type { Place } from '../document/place.js';
import { STEP_NAME } from '../names.js';
import type { LoopDraft } from './draft.js';
import { NO_VERDICT, readVerdict, VERDICT_KEYS } from './read-verdict.js';

const KEYS = ['back_to', 'max', 'until'];
const MOST_ATTEMPTS = 100;

export function readLoop(place: Place): LoopDraft {
  if (place.closedObject(KEYS, '"loop" is an object with "back_to", "max" and "until".') === undefined) {
    return { backTo: undefined, until: NO_VERDICT };
  }
  const maxRule = `an integer from 2 to ${MOST_ATTEMPTS}.`;
  const backTo = place.required('back_to', 'this step or an earlier one.')?.name(STEP_NAME);
  place.required('max', maxRule)?.integer(2, MOST_ATTEMPTS, `"max" is ${maxRule}`);
  const until = place
    .required('until', 'the condition that ends the loop.')
    ?.closedObject(VERDICT_KEYS, '"until" is an object with "exit_code", "produced" or both.');
  return { backTo, until: until === undefined ? NO_VERDICT : readVerdict(until) };
}

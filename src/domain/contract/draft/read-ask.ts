import { NO_NAMES, type Place } from '../document/place.js';
import { OUTPUT_NAME, PRINCIPAL, PROMPT } from '../names.js';
import type { AskDraft } from './draft.js';

const KEYS = ['prompt', 'answerers', 'timeout_seconds', 'default', 'show'];
const YEAR_SECONDS = 31_536_000;

export function readAsk(place: Place): AskDraft {
  if (place.closedObject(KEYS, '"ask" is an object with "prompt".') === undefined) {
    return { show: NO_NAMES, default: undefined };
  }
  place.required('prompt', PROMPT.says)?.name(PROMPT);
  place
    .member('timeout_seconds')
    ?.integer(1, YEAR_SECONDS, `"timeout_seconds" of a question is an integer from 1 to ${YEAR_SECONDS}.`);
  // An empty list would be read as "anybody" by one and as "nobody" by another.
  place
    .member('answerers')
    ?.names(PRINCIPAL, '"answerers" is an array of at least one name; leave it out to let any submitter answer.', 1);
  return {
    show: place.member('show')?.names(OUTPUT_NAME, '"show" is an array of names of outputs.') ?? NO_NAMES,
    default: readDefault(place),
  };
}

function readDefault(ask: Place): Place | undefined {
  const given = ask.member('default')?.object('"default" is an object: the answer that is taken when the time is up.');
  if (given !== undefined) ask.required('timeout_seconds', '"default" is taken when that time is up.');
  return given;
}

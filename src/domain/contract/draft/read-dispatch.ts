import { NO_NAMES, type Place } from '../document/place.js';
import { OUTPUT_NAME, STEP_NAME } from '../names.js';
import type { DispatchDraft } from './draft.js';

const KEYS = ['from', 'to'];
const UNREAD: DispatchDraft = { from: undefined, to: { all: [], whole: false } };

export function readDispatch(place: Place): DispatchDraft {
  if (place.closedObject(KEYS, '"dispatch" is an object with "from" and "to".') === undefined) return UNREAD;
  const says = 'the ids of at least two later steps to choose from.';
  return {
    from: place.required('from', 'an output of this step, and the fields that lead to the choice.')?.name(OUTPUT_NAME),
    to: place.required('to', says)?.names(STEP_NAME, `"to" is an array: ${says}`, 2) ?? { ...NO_NAMES, whole: false },
  };
}

import type { Place } from '../document/place.js';
import { STEP_NAME } from '../names.js';
import type { AcquireDraft } from './draft.js';
import { readRequirement } from './read-requirement.js';

const KEYS = ['want', 'acquired', 'unavailable'];

export function readAcquire(place: Place): AcquireDraft {
  const says = '"acquire" is an object with "want", "acquired" and "unavailable".';
  if (place.closedObject(KEYS, says) === undefined)
    return { role: undefined, acquired: undefined, unavailable: undefined };
  const want = place.required('want', 'the requirement that the acquired node has to meet.');
  return {
    role: want === undefined ? undefined : readRequirement(want, 1)?.as,
    acquired: place.required('acquired', 'the step that is chosen when a node is acquired.')?.name(STEP_NAME),
    unavailable: place.required('unavailable', 'the step that is chosen when no node is free.')?.name(STEP_NAME),
  };
}

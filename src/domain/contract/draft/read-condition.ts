import type { Place } from '../document/place.js';
import { STEP_NAME } from '../names.js';
import type { ConditionDraft } from './draft.js';
import { readVerdict, VERDICT_KEYS } from './read-verdict.js';

const KEYS = ['step', ...VERDICT_KEYS];

export function readCondition(place: Place): ConditionDraft | undefined {
  const says = 'A condition is an object with "step" and "exit_code", "produced" or both.';
  if (place.closedObject(KEYS, says) === undefined) return undefined;
  return { step: place.required('step', STEP_NAME.says)?.name(STEP_NAME), verdict: readVerdict(place) };
}

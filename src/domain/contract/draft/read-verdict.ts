import { NO_NAMES, type Place } from '../document/place.js';
import { OUTPUT_NAME } from '../names.js';
import type { VerdictDraft } from './draft.js';

export const VERDICT_KEYS = ['exit_code', 'produced'];

export const NO_VERDICT: VerdictDraft = { exitCode: undefined, produced: NO_NAMES };

/** What a loop's `until` and a condition have in common: at least one of `exit_code` and `produced`. */
export function readVerdict(place: Place): VerdictDraft {
  const exitCode = place.member('exit_code');
  const produced = place.member('produced');
  if (exitCode === undefined && produced === undefined)
    place.fault('At least one of "exit_code" and "produced" must be given here.');
  const value = exitCode?.integer(Number.MIN_SAFE_INTEGER, Number.MAX_SAFE_INTEGER, '"exit_code" is an integer.');
  return {
    exitCode: exitCode === undefined || value === undefined ? undefined : { value, place: exitCode },
    produced: produced?.names(OUTPUT_NAME, '"produced" is an array of names of outputs.') ?? NO_NAMES,
  };
}

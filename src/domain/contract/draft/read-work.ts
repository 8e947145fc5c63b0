import type { Place } from '../document/place.js';
import { WORK_PART } from '../names.js';

export function readWork(work: Place): void {
  if (work.object('"work" is an object.') === undefined) return;
  const system = work.member('system');
  const changeId = work.member('change_id');
  system?.name(WORK_PART);
  changeId?.name(WORK_PART);
  if (system !== undefined && changeId === undefined)
    work.required('change_id', 'a work id needs both "system" and "change_id".');
  if (changeId !== undefined && system === undefined)
    work.required('system', 'a work id needs both "system" and "change_id".');
}

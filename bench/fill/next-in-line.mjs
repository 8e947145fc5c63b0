import { NEXT_IN_LINE } from './kinds.mjs';
import { fillRuns, runName } from './runs.mjs';

/** Puts a run that wants the hot node behind all others, past the program; gives its id. */
export async function queueNext(client, index) {
  const next = { state: 'queued', kinds: [NEXT_IN_LINE], prefix: 'next-', from: index, count: 1, age: 0 };
  await fillRuns(client, next);
  return runName('next-', index);
}

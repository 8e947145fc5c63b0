import type { Why } from '../queue/why.js';

/** One thing that the reaper looks after: it finds what may be due, unlocked, and reaps each of it in a transaction of its own. */
export interface ReaperPart<Found = unknown> {
  /** What is counted under this name. */
  readonly name: ReapedThing;
  /** Why the pass wakes the queue where this part did something; none: it gives no node back. */
  readonly wakes: Why | undefined;
  find(): Promise<Found[]>;
  /** Asks the condition again under the run's lock; false: by now there is no reason to. */
  reap(found: Found): Promise<boolean>;
}

export type ReapedThing =
  'asks' | 'timeouts' | 'expired' | 'unbegun' | 'leftovers' | 'servers' | 'changes' | 'uploads' | 'sealed';

/** What one pass did, and how much of it failed; a part that fails does not stop the others. */
export type ReaperCounts = Record<ReapedThing | 'errors', number>;

/** Token of the parts, in the order in which a pass takes them. */
export const REAPER_PARTS = Symbol('reaper parts');

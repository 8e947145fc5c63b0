import type { FinalState, VerdictReason } from './states.js';

/** Why a run ended as it did, and by whom. */
export interface Verdict {
  reason: VerdictReason;
  /** A sentence for a person. */
  detail: string;
  by: Actor;
  checks: Check[];
}

export interface Actor {
  kind: 'person' | 'node' | 'server';
  name: string;
}

/** One thing that was judged. `want` and `got` are given where they say more than `ok`. */
export interface Check {
  step?: string;
  what: string;
  want?: unknown;
  got?: unknown;
  ok: boolean;
}

export const THE_SERVER: Actor = { kind: 'server', name: 'mediator' };

/** What a run's end is: the state it gets and the verdict that says why. */
export interface Ending {
  state: FinalState;
  verdict: Verdict;
}

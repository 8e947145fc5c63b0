import type { FinalState } from './states.js';

/** The database's CHECK too. */
export const VERDICT_REASONS = [
  'succeeded',
  'unsatisfiable',
  'too_wide',
  'step_failed',
  'step_timeout',
  'conditions_unmet',
  'lease_expired',
  'node_restarted',
  'ask_expired',
  'cancelled',
  'drained',
  'not_started',
] as const;
export type VerdictReason = (typeof VERDICT_REASONS)[number];

/** Why a run ended as it did, and by whom. */
export interface Verdict {
  reason: VerdictReason;
  /** A sentence for a person. */
  detail: string;
  by: Actor;
  checks: Check[];
}

/** Who did something: ended a run, answered a question. */
export interface Actor {
  kind: 'person' | 'node' | 'server';
  name: string;
}

export const THE_SERVER: Actor = { kind: 'server', name: 'mediator' };

/** The `answered_by` of a question that nobody answered in time and whose default was taken. No principal may have this name. */
export const BY_DEFAULT = 'default';

export const NOT_BY_DEFAULT = `must not be "${BY_DEFAULT}", which marks an answer that was taken because nobody answered in time`;

/** One thing that was judged. `want` and `got` are given where they say more than `ok`. */
export interface Check {
  step?: string;
  what: string;
  want?: unknown;
  got?: unknown;
  ok: boolean;
}

/** What a run's end is: the state it gets and the verdict that says why. */
export interface Ending {
  state: FinalState;
  verdict: Verdict;
}

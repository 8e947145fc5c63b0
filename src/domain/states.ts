/** The states of runs and steps, and the words a verdict can give. They are the database's CHECKs too. */

export const RUN_STATES = ['QUEUED', 'RUNNING', 'SUCCEEDED', 'FAILED', 'CANCELLED'] as const;
export type RunState = (typeof RUN_STATES)[number];
export type FinalState = Exclude<RunState, 'QUEUED' | 'RUNNING'>;

export const STEP_STATES = ['PENDING', 'CLAIMED', 'ASKED', 'DONE', 'FAILED', 'SKIPPED', 'CANCELLED'] as const;
export type StepState = (typeof STEP_STATES)[number];

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
] as const;
export type VerdictReason = (typeof VERDICT_REASONS)[number];

export function isOver(state: RunState): state is FinalState {
  return state !== 'QUEUED' && state !== 'RUNNING';
}

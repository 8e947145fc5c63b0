/** The states of runs and steps, and the drains of nodes. They are the database's CHECKs too. */

export const FINAL_STATES = ['SUCCEEDED', 'FAILED', 'CANCELLED'] as const;
export type FinalState = (typeof FINAL_STATES)[number];

export const RUN_STATES = ['QUEUED', 'RUNNING', ...FINAL_STATES] as const;
export type RunState = (typeof RUN_STATES)[number];

export const STEP_STATES = ['PENDING', 'CLAIMED', 'ASKED', 'DONE', 'FAILED', 'SKIPPED', 'CANCELLED'] as const;
export type StepState = (typeof STEP_STATES)[number];

export function isOver(state: RunState): state is FinalState {
  return state !== 'QUEUED' && state !== 'RUNNING';
}

/** Whether a node takes new runs, and what becomes of its run. */
export const DRAINS = ['', 'graceful', 'at-boundary'] as const;
export type Drain = (typeof DRAINS)[number];

/** An advert is the heartbeat too and is never refused for its drain: an unknown word counts as none, with a warning. */
export function readDrain(given: unknown): { drain: Drain; warning?: string } {
  const drain = DRAINS.find((word) => word === (given ?? ''));
  if (drain !== undefined) return { drain };
  const shown = (JSON.stringify(given) ?? String(given)).slice(0, 100);
  return {
    drain: '',
    warning: `drain ${shown} is not known and counts as none; it can be "graceful" or "at-boundary"`,
  };
}

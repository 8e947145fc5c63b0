import { sqlState } from '../sessions/faults.js';

/** What it means where a write does not touch the rows that it has to. */
export const REFUSALS = [
  /** A node was taken, or cannot be granted any more. */
  'collided',
  /** The run is not queued any more. */
  'not_queued',
  /** There is a run of this id already. */
  'existed',
  /** The run is over already. */
  'run_over',
  /** The step is not under way. */
  'not_under_way',
  /** The record of the run is closed already. */
  'record_closed',
  /** The run may not store more. */
  'run_full',
  /** What is changed is not there: no fault of the caller's, since it stood under a lock. */
  'gone',
] as const;

export type Refusal = (typeof REFUSALS)[number];

/** As what a write was refused; undefined for any other error. */
export function refusal(error: unknown): Refusal | undefined {
  return sqlState(error) === 'MD001' ? REFUSALS.find((one) => one === (error as Error).message) : undefined;
}

import type { Requirement } from '../contract/contract.js';

/** A queued run and its place in the order of arrival. */
export interface QueuedRun {
  run_id: string;
  /** As the database writes it. */
  created_at: string;
  /** The same, in microseconds: exact in a double until the year 2255. */
  arrived: number;
  seq: number;
}

/** The queued runs that need the same, seen from the oldest on: a short queue within the queue. */
export interface QueueLine {
  signature: string;
  wants: string;
  requires: readonly Requirement[];
  spread: boolean;
  /** The ones that are known, oldest first; at least one. There may be more behind them. */
  runs: QueuedRun[];
}

export function isOlder(a: QueuedRun, b: QueuedRun): boolean {
  return a.arrived < b.arrived || (a.arrived === b.arrived && a.seq < b.seq);
}

import type { Requirement } from '../contract/contract.js';

/** A place in the order of arrival. */
export interface Place {
  /** Microseconds since 1970: exact in a double until the year 2255. */
  arrived: number;
  /** Tells apart who arrived in the same microsecond. */
  seq: number;
}

/** A queued run and its place. */
export interface QueuedRun extends Place {
  run_id: string;
  signature: string;
  /** It is promoted in a transaction of its own: it has steps that the Mediator does itself, or that is not known. */
  alone: boolean;
}

/** What the runs of one signature need. */
export interface Needs {
  signature: string;
  requires: readonly Requirement[];
  spread: boolean;
}

/** The queued runs that need the same, seen from the oldest on: a short queue within the queue, as a sweep goes through it. */
export interface QueueLine extends Needs {
  /** The oldest that has not been looked at. */
  head: QueuedRun;
}

export function isOlder(a: Place, b: Place): boolean {
  return a.arrived < b.arrived || (a.arrived === b.arrived && a.seq < b.seq);
}

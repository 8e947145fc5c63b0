/** What can wake the queue: a closed list. Never a timer, never a plain heartbeat. */
export const WHYS = [
  /** A report was committed, settled or not. */
  'result',
  /** A person's answer was committed. */
  'answer',
  /** A cancel succeeded. */
  'cancel',
  /** An at-boundary drain cancelled a run. */
  'drained',
  /** A new instance of a node made steps fail. */
  'node-restart',
  /** An advert said draining, and the next does not. */
  'drain-lift',
  /** A hold was lifted from a live node. */
  'hold-lift',
  /** A node is new, comes back, or offers more than before. */
  'node-joined',
  /** A reaper pass released something. */
  'reaper',
  /** A sweep of this process was cut short or failed. */
  'owed',
  /** Another server's row had to be removed. */
  'server-lost',
  /** A QUEUED row was committed: a release may have slipped by before. */
  'enqueued',
  /** The process started. */
  'startup',
] as const;

export type Why = (typeof WHYS)[number];

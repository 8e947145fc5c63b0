/** The first that holds; `why-waiting.ts` says when each does. */
export type WaitingReason = 'OFFLINE' | 'TOO_WIDE' | 'DRAINING' | 'BUSY';

/** The lease that keeps a node busy. The times are the database's words, passed on as they are. */
export interface Holding {
  run_id: string;
  /** Who submitted that run. */
  principal: string;
  since: string;
  not_after: string;
}

export interface Holder extends Holding {
  node_id: string;
}

/**
 * What a role could take. A node counts once: busy before draining before free. `live` is larger than the three together
 * by the nodes that have not spoken since the server came back.
 */
export interface WaitingRole {
  as: string;
  count: number;
  live: number;
  free: number;
  busy: number;
  draining: number;
  /** Of the busy ones, in the order in which the matcher prefers them; not more than a person can look at. */
  holders: Holder[];
}

export interface Waiting {
  reason: WaitingReason;
  /** A sentence for a person. */
  detail: string;
  roles: WaitingRole[];
}

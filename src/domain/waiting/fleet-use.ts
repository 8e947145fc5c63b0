import type { Holding } from './waiting.js';

/** Why live nodes are unavailable. A node can be in several; it counts in the first. */
export interface FleetUse {
  busy: ReadonlyMap<string, Holding>;
  draining: ReadonlySet<string>;
  /** Kept alive after an outage of the server, and not heard of since. */
  silent: ReadonlySet<string>;
}

export type Use = 'busy' | 'draining' | 'silent' | 'free';

export function useOf(nodeId: string, use: FleetUse): Use {
  if (use.busy.has(nodeId)) return 'busy';
  if (use.draining.has(nodeId)) return 'draining';
  return use.silent.has(nodeId) ? 'silent' : 'free';
}

import type { Ending } from '../domain/verdict.js';

/** The end of a run whose node drains at the boundary of its steps. */
export function drainedEnding(nodeId: string): Ending {
  const detail = `node ${nodeId} drains, and its step in progress has ended`;
  const by = { kind: 'node', name: nodeId } as const;
  return { state: 'CANCELLED', verdict: { reason: 'drained', detail, by, checks: [] } };
}

import type { AssignedRole } from './fleet.js';

/** How many leases an assignment takes: a node that serves several roles is leased once. */
export function distinctNodes(assigned: readonly AssignedRole[]): number {
  return new Set(assigned.flatMap((role) => role.nodes.map((node) => node.node_id))).size;
}

/** `cap` 0: there is none. */
export function tooWide(nodes: number, cap: number): boolean {
  return cap > 0 && nodes > cap;
}

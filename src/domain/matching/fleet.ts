/** One capability that a node offers. `attrs` never holds `node_id`: that one is reserved and implied. */
export interface CapabilityEntry {
  capability: string;
  attrs?: Record<string, string>;
}

/** A node as the matcher sees it: what its last advert, which is still live, offers. */
export interface Advert {
  node_id: string;
  label: string;
  capabilities: CapabilityEntry[];
  /** Raised whenever the capabilities change; a grant checks that it still is what was matched. */
  offer_rev: number;
}

/** Role → its nodes, in the order of the contract's requirements. The steps of a role run on the first of its nodes. */
export interface AssignedRole {
  as: string;
  nodes: { node_id: string; label: string }[];
}

/** One node of an assignment: what a grant leases, and the offer it must still have when it does. */
export interface MatchedNode {
  node_id: string;
  offer_rev: number;
  /** In the order of the contract's requirements. */
  roles: string[];
}

/** Nodes by name, whatever the reason. The matcher asks nothing else of it, so several sets can stand behind one. */
export type NodeSet = Pick<ReadonlySet<string>, 'has'>;

/** The order of PostgreSQL's C collation, in which nodes are locked. Node ids are ASCII, so comparing UTF-16 units is the same. */
export function byNodeId(a: { node_id: string }, b: { node_id: string }): number {
  return a.node_id < b.node_id ? -1 : a.node_id > b.node_id ? 1 : 0;
}

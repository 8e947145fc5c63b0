/** The order of PostgreSQL's C collation, in which nodes are locked. Node ids are ASCII, so comparing UTF-16 units is the same. */
export function byNodeId(a: { node_id: string }, b: { node_id: string }): number {
  return a.node_id < b.node_id ? -1 : a.node_id > b.node_id ? 1 : 0;
}

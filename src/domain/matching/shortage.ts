/** Why there is no assignment. Roles are given by their place in the contract. */
export interface Shortage {
  /** The first role that does not get its nodes once those before it have theirs. */
  at: number;
  /** The roles that compete for too few nodes, `at` among them. One alone, unless the run is spread. */
  together: number[];
  /** How many distinct nodes there are for all of these. */
  nodes: number;
}

import type { Requirement } from '../contract/contract.js';
import type { AssignedRole, MatchedNode } from './fleet.js';

/** `nodes`: the distinct ones, by `node_id`, the order in which a grant locks and leases them. */
export interface Matched {
  assigned: AssignedRole[];
  nodes: MatchedNode[];
}

/** `busy` passes with time, `unsatisfiable` only with other adverts. `detail` is a sentence for a person. */
export type MatchResult =
  | ({ kind: 'matched' } & Matched)
  /** `competing`: the roles that are short of nodes together, `as` among them; it alone, unless the run is spread. */
  | { kind: 'busy'; as: string; competing: string[]; detail: string }
  | { kind: 'unsatisfiable'; as: string; requirement: Requirement; detail: string };

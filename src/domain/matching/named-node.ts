import type { Requirement } from '../contract/contract.js';

/** The one node that a requirement asks for by name, with the reserved attribute `node_id`. */
export function namedNode(requirement: Requirement): string | undefined {
  const attrs = requirement.attrs;
  return attrs !== undefined && Object.hasOwn(attrs, 'node_id') ? attrs.node_id : undefined;
}

/** `R(x)` of the acceptance scenarios: one role, one run step, on a node that has `role=x`. */
export function R(role: string, more: Record<string, unknown> = {}): Record<string, unknown> {
  return {
    requires: [needs(role)],
    steps: [{ id: 'only', uses: role, run: ['true'] }],
    ...more,
  };
}

/** A requirement for a board with `role=x`, whose role in the contract is named alike. */
export function needs(role: string, more: Record<string, unknown> = {}): Record<string, unknown> {
  return { as: role, capability: 'board', attrs: { role }, ...more };
}

/** A run step of the role. */
export function step(id: string, role: string, more: Record<string, unknown> = {}): Record<string, unknown> {
  return { id, uses: role, run: ['true'], ...more };
}

import type { Contract } from '../domain/contract/contract.js';
import { kindOf } from '../domain/contract/kind-of.js';
import { needsOf } from '../domain/contract/needs.js';
import type { AssignedRole } from '../domain/matching/fleet.js';

/**
 * The steps of a run as they are stored when it is created: one function for a run that starts at once, whose steps are
 * bound to the first node of their role, and one that waits, whose steps are bound to none.
 */
export function stepRows({ steps, ...contract }: Contract, assigned: AssignedRole[]): object[] {
  const needs = needsOf({ steps, ...contract });
  const nodes = new Map(assigned.map((role) => [role.as, role.nodes[0]!.node_id]));
  return steps.map((step, index) => ({
    seq: index + 1,
    id: step.id,
    kind: kindOf(step),
    uses: step.uses ?? null,
    needs: needs[index] ?? [],
    timeout_seconds: step.timeout_seconds ?? null,
    node_id: (step.uses !== undefined && nodes.get(step.uses)) || '',
  }));
}

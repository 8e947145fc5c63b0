import type { AssignedRole } from '../domain/matching/fleet.js';
import type { Tx } from '../platform/database/queryable.js';

/** Binds the steps of each role to the first of its nodes. */
export async function bindSteps(tx: Tx, runId: string, assigned: AssignedRole[]): Promise<void> {
  await tx.query(
    `/* steps.bind */
     UPDATE steps s SET node_id = role.node_id
       FROM unnest($2::text[], $3::text[]) AS role (name, node_id)
      WHERE s.run_id = $1 AND s.uses = role.name`,
    [runId, assigned.map((role) => role.as), assigned.map((role) => role.nodes[0]?.node_id)],
  );
}

import type { AssignedRole } from '../domain/matching/fleet.js';
import type { Tx } from '../platform/database/queryable.js';

/**
 * Binds the steps of each role to the first of its nodes. `ownSteps`: whether the run has steps that the Mediator does
 * itself, acquires and questions.
 */
export async function bindSteps(tx: Tx, runId: string, assigned: AssignedRole[]): Promise<{ ownSteps: boolean }> {
  const { rows } = await tx.query<{ own_steps: boolean }>(
    `/* steps.bind */
     WITH bound AS (
       UPDATE steps s SET node_id = role.node_id
         FROM unnest($2::text[], $3::text[]) AS role (name, node_id)
        WHERE s.run_id = $1 AND s.uses = role.name)
     SELECT EXISTS (SELECT FROM steps WHERE run_id = $1 AND kind IN ('acquire', 'ask')) AS own_steps`,
    [runId, assigned.map((role) => role.as), assigned.map((role) => role.nodes[0]?.node_id)],
  );
  return { ownSteps: rows[0]!.own_steps };
}

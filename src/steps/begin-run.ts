import type { AssignedRole } from '../domain/matching/fleet.js';
import type { Tx } from '../platform/database/queryable.js';
import { type GrantedNode, grantLeases } from '../leases/grant-leases.js';
import { point } from '../platform/points.js';
import { bindSteps } from './bind-steps.sql.js';

export interface Beginning {
  assigned: AssignedRole[];
  nodes: GrantedNode[];
  ttlSeconds: number;
}

/**
 * What makes a run that is RUNNING in this transaction go: its leases, then its steps bound to their nodes. A run that
 * was created at once and one that was promoted both begin here, in this order.
 */
export async function beginRun(tx: Tx, runId: string, begin: Beginning): Promise<'granted' | 'collided'> {
  await point(`${tx.name}.before-grant`);
  const outcome = await grantLeases(tx, runId, begin.nodes, begin.ttlSeconds);
  if (outcome === 'collided') return outcome;
  await bindSteps(tx, runId, begin.assigned);
  tx.hint('steps');
  tx.hint('runs');
  return outcome;
}

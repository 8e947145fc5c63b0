import type { Tx } from '../platform/database/queryable.js';
import { lockOffered } from '../fleet/lock-offered.sql.js';
import { point } from '../platform/points.js';
import { insertLeases } from './insert-leases.sql.js';

/** A node to be leased: what it was matched by, and the roles it serves. */
export interface GrantedNode {
  node_id: string;
  offer_rev: number;
  roles: string[];
}

/**
 * Leases all of these nodes (sorted by node_id) to the run, or says that it collided: some node was taken, is no longer
 * live, drains, or offers something else. After a collision the caller rolls back; what was inserted is not undone here.
 */
export async function grantLeases(
  tx: Tx,
  runId: string,
  nodes: GrantedNode[],
  ttlSeconds: number,
): Promise<'granted' | 'collided'> {
  if (!(ttlSeconds > 0)) throw new Error('a lease must have an end: its time to live is not set');
  if ((await lockOffered(tx, nodes)) < nodes.length) return 'collided';
  await point(`${tx.name}.before-lease`);
  const inserted = await insertLeases(tx, runId, nodes, ttlSeconds);
  return inserted === nodes.length ? 'granted' : 'collided';
}

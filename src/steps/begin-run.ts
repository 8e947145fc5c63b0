import type { AssignedRole } from '../domain/matching/fleet.js';
import { THE_SERVER } from '../domain/verdict.js';
import { type GrantedNode, grantLeases } from '../leases/grant-leases.js';
import type { Tx } from '../platform/database/queryable.js';
import { point } from '../platform/points.js';
import { appendEvent } from '../records/append-event.sql.js';
import { advance } from './advance.js';
import { bindSteps } from './bind-steps.sql.js';
import { readGraph } from './read-graph.sql.js';
import { settle } from './settle.js';
import type { Terms } from './terms.js';
import { writeGraph } from './write-graph.js';

export interface Beginning {
  assigned: AssignedRole[];
  nodes: GrantedNode[];
  terms: Terms;
  /** How its history tells of this. */
  event: { kind: 'granted' | 'promoted'; whys?: string[] };
}

export type Begun = { kind: 'granted'; holds: string[] } | { kind: 'collided' };

/**
 * What makes a run that is RUNNING in this transaction go: its leases, its steps bound to their nodes, the acquires that
 * are ready, the questions that are ready. A run that was created at once and one that was promoted both begin here, in
 * this order. `holds` are the nodes it has taken: none where its acquires have skipped every step, and it is over.
 */
export async function beginRun(tx: Tx, runId: string, { assigned, nodes, terms, event }: Beginning): Promise<Begun> {
  await point(`${tx.name}.before-grant`);
  const outcome = await grantLeases(tx, runId, nodes, terms.ttlSeconds);
  if (outcome === 'collided') return { kind: 'collided' };
  const matched = nodes.map((node) => node.node_id);
  // Before what follows from it: a run may be over within its own beginning.
  await appendEvent(tx, runId, event.kind, { whys: event.whys, nodes: matched });
  const { ownSteps } = await bindSteps(tx, runId, assigned);
  tx.hint('steps');
  tx.hint('runs');
  if (!ownSteps) return { kind: 'granted', holds: matched };
  const run = await readGraph(tx, runId);
  const acquired = await advance(tx, run, terms);
  await writeGraph(tx, run);
  const ended = await settle(tx, run, THE_SERVER);
  return { kind: 'granted', holds: ended ? [] : [...matched, ...acquired] };
}

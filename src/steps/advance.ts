import type { Tx } from '../platform/database/queryable.js';
import { appendEvent } from '../records/append-event.sql.js';
import { acquireNode } from './acquire-node.js';
import { raiseAsks } from './raise-asks.js';
import type { RunInHand } from './read-graph.sql.js';
import type { Terms } from './terms.js';
import { writeAssigned } from './write-assigned.sql.js';

/**
 * Does what the Mediator itself has to do for a run, until nothing is left: acquires that are ready, each of which
 * chooses a branch and may make the next one ready; then the questions that are ready, last. One engine for creation,
 * promotion, reports and answers. Gives the nodes it acquired.
 */
export async function advance(tx: Tx, run: RunInHand, terms: Terms): Promise<string[]> {
  const { graph } = run;
  const acquired: string[] = [];
  for (let [step] = graph.ready('acquire'); step !== undefined; [step] = graph.ready('acquire')) {
    const { want, acquired: ifAcquired, unavailable } = graph.spec(step).acquire!;
    const node = await acquireNode(tx, run.run_id, want, terms);
    graph.choose(step, node === undefined ? unavailable : ifAcquired, {});
    if (node === undefined) continue;
    graph.bind(want.as, node.node_id);
    run.assigned.push({ as: want.as, nodes: [node] });
    acquired.push(node.node_id);
    appendEvent(tx, run.run_id, 'acquired', { seq: step.seq, role: want.as, node_id: node.node_id });
  }
  if (acquired.length > 0) writeAssigned(tx, run.run_id, run.assigned);
  raiseAsks(tx, run);
  return acquired;
}

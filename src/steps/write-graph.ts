import type { Tx } from '../platform/database/queryable.js';
import type { RunInHand } from './read-graph.sql.js';
import { writeChanges } from './write-graph.sql.js';

/** Writes what became of the run's steps, and tells whoever waits for one. Nothing changed: nothing is written. */
export function writeGraph(tx: Tx, { run_id, graph }: RunInHand): void {
  const { steps, attempts } = graph.changes();
  if (steps.length === 0) return;
  writeChanges(tx, run_id, steps, attempts);
  tx.hint('steps');
  tx.hint('runs');
}

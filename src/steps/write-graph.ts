import type { Tx } from '../platform/database/queryable.js';
import { appendEvents } from '../records/append-event.sql.js';
import type { RunInHand } from './read-graph.sql.js';
import { writeAttempts, writeSteps } from './write-graph.sql.js';

/** Writes what became of the run's steps, and tells whoever waits for one. Nothing changed: nothing is written. */
export function writeGraph(tx: Tx, { run_id, graph }: RunInHand): void {
  const { steps, attempts } = graph.changes();
  if (steps.length === 0) return;
  writeSteps(tx, run_id, steps);
  if (attempts.length > 0) {
    writeAttempts(tx, run_id, attempts);
    const told = attempts.map(({ seq, attempt, state, result }) => ({ seq, attempt, state, branch: result?.branch }));
    appendEvents(tx, run_id, 'step_ended', told);
  }
  tx.hint('steps');
  tx.hint('runs');
}

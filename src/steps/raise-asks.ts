import type { StepNow } from '../domain/steps/step-now.js';
import type { Tx } from '../platform/database/queryable.js';
import { appendEvents } from '../records/append-event.sql.js';
import { insertAsks, type NewAsk } from './insert-asks.sql.js';
import type { RunInHand } from './read-graph.sql.js';

/** Asks every question that is ready. Whoever is to be told of it is told after the commit. */
export function raiseAsks(tx: Tx, { run_id, graph }: RunInHand): void {
  const ready = graph.ready('ask');
  if (ready.length === 0) return;
  const asks = ready.map((step) => askOf(step, graph.spec(step)));
  for (const step of ready) graph.ask(step);
  insertAsks(tx, run_id, asks);
  appendEvents(
    tx,
    run_id,
    'asked',
    asks.map(({ seq, attempt }) => ({ seq, attempt })),
  );
  tx.hint('asks');
}

function askOf(step: StepNow, spec: RunInHand['graph']['contract']['steps'][number]): NewAsk {
  const { prompt, answerers, timeout_seconds, show = [] } = spec.ask!;
  const output = spec.out![0]!;
  return {
    seq: step.seq,
    attempt: step.attempt,
    prompt,
    output,
    answerers: answerers ?? null,
    show,
    timeout_seconds: timeout_seconds ?? null,
  };
}

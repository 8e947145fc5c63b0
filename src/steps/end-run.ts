import { readUploaded } from '../bodies/outputs.sql.js';
import { settlement } from '../domain/settlement.js';
import type { Ending, Actor } from '../domain/verdict.js';
import type { Tx } from '../platform/database/queryable.js';
import { appendEvent } from '../records/events.sql.js';
import { closeRecord } from '../records/records.sql.js';
import type { LockedRunGraph } from './graph.sql.js';
import { writeEnding } from './run-endings.sql.js';
import { type Fails, writeFailure } from './steps.sql.js';

/**
 * Ends a run that this transaction has locked and that is not over: the remaining steps cancelled, the leases given back,
 * the verdict written, the record closed. The only writer of final states, but for a submission that is rejected.
 */
export function endRun(tx: Tx, runId: string, { state, verdict }: Ending): void {
  tx.send(writeEnding(runId, state, verdict));
  tx.send(closeRecord(runId));
  tx.notify('runs');
}

/** Ends the locked, RUNNING run if its steps, as they have been written, say so; undefined: it goes on. */
export async function settle(tx: Tx, { run_id, graph }: LockedRunGraph, by: Actor): Promise<Ending | undefined> {
  const conditions = graph.contract.success_when ?? [];
  const judgesUploads = conditions.some((condition) => condition.produced !== undefined);
  const uploaded = judgesUploads ? await tx.ask(readUploaded(run_id)) : new Map<number, Set<string>>();
  const ending = settlement(graph.steps, conditions, uploaded, by);
  if (ending) endRun(tx, run_id, ending);
  return ending;
}

/** The end of a run whose node drains at the boundary of its steps. */
export function drainedEnding(nodeId: string): Ending {
  const detail = `node ${nodeId} is draining, and its step in progress has ended`;
  const by = { kind: 'node', name: nodeId } as const;
  return { state: 'CANCELLED', verdict: { reason: 'drained', detail, by, checks: [] } };
}

/** Fails a step of a locked run that has not ended, without the node or the person having a say in it. */
export function failStep(tx: Tx, runId: string, seq: number, error: string, fails: Fails = 'under way'): void {
  tx.send(writeFailure(runId, seq, error, fails));
  tx.send(appendEvent(runId, 'step_ended', { seq, state: 'FAILED', error }));
}

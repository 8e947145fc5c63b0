import { settlement } from '../domain/settlement.js';
import type { Actor, Ending } from '../domain/verdict.js';
import type { Tx } from '../platform/database/queryable.js';
import { readUploaded } from '../records/read-output.sql.js';
import { endRun } from './end-run.js';
import type { RunInHand } from './read-graph.sql.js';

/** Ends the locked, RUNNING run if its steps, as they have been written, say so; undefined: it goes on. */
export async function settle(tx: Tx, { run_id, graph }: RunInHand, by: Actor): Promise<Ending | undefined> {
  const conditions = graph.contract.success_when ?? [];
  const judgesUploads = conditions.some((condition) => condition.produced !== undefined);
  const uploaded = judgesUploads ? await readUploaded(tx, run_id) : new Map<number, Set<string>>();
  const ending = settlement(graph.steps, conditions, uploaded, by);
  if (ending) endRun(tx, run_id, ending);
  return ending;
}

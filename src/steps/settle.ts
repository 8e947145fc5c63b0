import { type Actor, type Ending, settlement } from '../domain/verdict.js';
import type { Tx } from '../platform/database/queryable.js';
import { endRun } from './end-run.js';
import { readJudged } from './read-judged.sql.js';

/** Ends the locked, RUNNING run if its steps say so; undefined: it goes on. */
export async function settle(tx: Tx, runId: string, by: Actor): Promise<Ending | undefined> {
  const { steps, conditions } = await readJudged(tx, runId);
  const ending = settlement(steps, conditions, by);
  if (ending) await endRun(tx, runId, ending);
  return ending;
}

import type { Queryable } from '../platform/database/queryable.js';
import { readRun, type RunRow } from './read-runs.sql.js';
import { readSteps, type StepRow } from './read-steps.sql.js';

/** A run as it is stored, with its steps. */
export interface StoredRun {
  row: RunRow;
  steps: StepRow[];
}

/** Undefined where there is no such run. */
export async function readStored(database: Queryable, runId: string): Promise<StoredRun | undefined> {
  const [row, steps] = await Promise.all([readRun(database, runId), readSteps(database, runId)]);
  return row && { row, steps };
}

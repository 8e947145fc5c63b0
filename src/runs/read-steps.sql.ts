import type { StepKind } from '../domain/contract/contract.js';
import type { StepState } from '../domain/states.js';
import type { Queryable } from '../platform/database/queryable.js';

export interface StepRow {
  seq: number;
  id: string;
  kind: StepKind;
  uses: string | null;
  state: StepState;
  node_id: string;
  needs: string[];
  attempt: number;
  chosen: boolean;
  started_at: Date | null;
  ended_at: Date | null;
  /** JSON, with an answer as it was sent. */
  result: string | null;
}

export const STEP_COLUMNS =
  'seq, id, kind, uses, state, node_id, needs, attempt, chosen, started_at, ended_at, result::text AS result';

/** The steps of a run in the contract's order. */
export async function readSteps(database: Queryable, runId: string): Promise<StepRow[]> {
  const { rows } = await database.query<StepRow>(
    `/* runs.read-steps */ SELECT ${STEP_COLUMNS} FROM steps WHERE run_id = $1 ORDER BY seq`,
    [runId],
  );
  return rows;
}

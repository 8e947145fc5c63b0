import type { StepKind } from '../domain/contract/contract.js';
import type { Tx } from '../platform/database/queryable.js';

export interface NewStep {
  seq: number;
  id: string;
  kind: StepKind;
  uses: string | null;
  needs: string[];
  timeout_seconds: number | null;
}

/** All steps of a run in one statement. */
export async function insertStepRows(tx: Tx, runId: string, steps: NewStep[]): Promise<void> {
  await tx.query(
    `/* steps.insert */
     INSERT INTO steps (run_id, seq, id, kind, uses, needs, timeout_seconds)
     SELECT $1, seq, id, kind, uses, ARRAY(SELECT jsonb_array_elements_text(needs)), timeout_seconds
       FROM jsonb_to_recordset($2::jsonb) AS step (seq integer, id text, kind text, uses text, needs jsonb,
                                                 timeout_seconds float8)`,
    [runId, JSON.stringify(steps)],
  );
}

import type { StepKind } from '../domain/contract/contract.js';
import type { RunState, StepState } from '../domain/states.js';
import type { Tx } from '../platform/database/queryable.js';

export interface ReportedStep {
  run_state: RunState;
  id: string;
  kind: StepKind;
  state: StepState;
  node_id: string;
  attempt: number;
  allow_failure: boolean;
  /** The nonce of the lease by which this run holds the reporting node; null: it holds it no more. */
  nonce: string | null;
}

/** The step as it stands, now that its run is locked; undefined where the run has no such step. */
export async function readReported(
  tx: Tx,
  runId: string,
  seq: number,
  nodeId: string,
): Promise<ReportedStep | undefined> {
  const { rows } = await tx.query<ReportedStep>(
    `/* execution.read-reported */
     SELECT r.state AS run_state, s.id, s.kind, s.state, s.node_id, s.attempt, l.nonce,
            coalesce((r.contract->'steps'->(s.seq - 1)->>'allow_failure')::boolean, false) AS allow_failure
       FROM steps s JOIN runs r USING (run_id)
       LEFT JOIN leases l ON l.run_id = s.run_id AND l.node_id = $3
      WHERE s.run_id = $1 AND s.seq = $2`,
    [runId, seq, nodeId],
  );
  return rows[0];
}

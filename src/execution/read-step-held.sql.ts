import type { StepState } from '../domain/states.js';
import type { Tx } from '../platform/database/queryable.js';

export interface StepHeld {
  state: StepState;
  attempt: number;
  node_id: string;
  /** The node that holds the run by the nonce; null: there is none. */
  holder: string | null;
}

/** The step of the (locked) run, and who holds the run by this nonce. Undefined: there is no such step. */
export async function readStepHeld(tx: Tx, runId: string, seq: number, nonce: string): Promise<StepHeld | undefined> {
  const { rows } = await tx.query<StepHeld>(
    `/* execution.read-step-held */
     SELECT s.state, s.attempt, s.node_id,
            (SELECT l.node_id FROM leases l WHERE l.run_id = s.run_id AND l.nonce = $3) AS holder
       FROM steps s WHERE s.run_id = $1 AND s.seq = $2`,
    [runId, seq, nonce],
  );
  return rows[0];
}

import type { Tx } from '../platform/database/queryable.js';
import { READY, type ReadyStep } from './ready-steps.sql.js';

/** Gives the step to the node if it may still begin; the run is locked, so nothing that this depends on moves. */
export async function claimStep(
  tx: Tx,
  { run_id, seq }: ReadyStep,
  nodeId: string,
  instance: string,
): Promise<boolean> {
  const { affected } = await tx.query(
    `/* steps.claim-step */
     WITH claimed AS (
       UPDATE steps s SET state = 'CLAIMED', instance = $4, started_at = clock_timestamp()
        WHERE s.run_id = $1 AND s.seq = $2 AND s.node_id = $3 AND ${READY}
       RETURNING run_id, seq, attempt, node_id, instance, started_at),
     counted AS (UPDATE runs r SET version = version + 1 FROM claimed WHERE r.run_id = claimed.run_id)
     INSERT INTO attempts (run_id, seq, attempt, node_id, instance, state, started_at)
     SELECT run_id, seq, attempt, node_id, instance, 'CLAIMED', started_at FROM claimed`,
    [run_id, seq, nodeId, instance],
  );
  return affected === 1;
}

/** The step that this named instance holds already: one at most. */
export async function readHeldSteps(tx: Tx, nodeId: string, instance: string): Promise<ReadyStep[]> {
  const { rows } = await tx.query<ReadyStep>(
    `/* steps.read-held-steps */
     SELECT run_id, seq FROM steps WHERE node_id = $1 AND instance = $2 AND instance <> '' AND state = 'CLAIMED'`,
    [nodeId, instance],
  );
  return rows;
}

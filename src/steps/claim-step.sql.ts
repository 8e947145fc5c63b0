import type { Tx } from '../platform/database/queryable.js';
import { APPEND_EVENT } from '../records/append-event.sql.js';
import { READY, type ReadyStep } from './ready-steps.sql.js';

/** A step `h` that the instance $2 of the node $1 holds, if it has a name. */
const HELD = "h.node_id = $1 AND h.instance = $2 AND h.instance <> '' AND h.state = 'CLAIMED'";

/**
 * Gives the step to the node, and tells of it, if it may still begin and this named instance holds none; the run is locked,
 * so nothing that this depends on moves.
 */
export async function claimStep(
  tx: Tx,
  { run_id, seq }: ReadyStep,
  nodeId: string,
  instance: string,
): Promise<boolean> {
  const { affected } = await tx.query(
    `/* steps.claim-step */
     WITH claimed AS (
       UPDATE steps s SET state = 'CLAIMED', instance = $2, started_at = clock_timestamp()
        WHERE s.run_id = $3 AND s.seq = $4 AND s.node_id = $1 AND ${READY} AND NOT EXISTS (SELECT FROM steps h WHERE ${HELD})
       RETURNING run_id, seq, attempt, node_id, instance, started_at),
     counted AS (UPDATE runs r SET version = version + 1 FROM claimed WHERE r.run_id = claimed.run_id),
     begun AS (
       INSERT INTO attempts (run_id, seq, attempt, node_id, instance, state, started_at)
       SELECT run_id, seq, attempt, node_id, instance, 'CLAIMED', started_at FROM claimed),
     telling AS (
       SELECT run_id, 'step_claimed' AS kind,
              jsonb_build_object('seq', seq, 'attempt', attempt, 'node_id', node_id, 'instance', instance) AS data
         FROM claimed),
     told AS (${APPEND_EVENT})
     SELECT FROM claimed`,
    [nodeId, instance, run_id, seq],
  );
  return affected === 1;
}

/** The step that this named instance holds already: one at most. */
export async function readHeldSteps(tx: Tx, nodeId: string, instance: string): Promise<ReadyStep[]> {
  const { rows } = await tx.query<ReadyStep>(
    `/* steps.read-held-steps */ SELECT h.run_id, h.seq FROM steps h WHERE ${HELD}`,
    [nodeId, instance],
  );
  return rows;
}

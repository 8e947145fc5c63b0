import type { FinalState } from '../domain/states.js';
import type { Verdict } from '../domain/verdict.js';
import { RELEASE_LEASES } from '../leases/release-leases.sql.js';
import type { Tx } from '../platform/database/queryable.js';
import { APPEND_EVENT } from '../records/append-event.sql.js';

/**
 * Ends the (locked) run, guarded by its not being over yet: every step that has not ended is cancelled, with the attempts
 * under way and the questions that are open; the leases are given back; the final state and the verdict are written.
 */
export function writeEnding(tx: Tx, runId: string, state: FinalState, verdict: Verdict): void {
  tx.send(
    `/* steps.write-ending */
     WITH cancelled AS (
       UPDATE steps SET state = 'CANCELLED', ended_at = clock_timestamp()
        WHERE run_id = $1 AND state IN ('PENDING', 'CLAIMED', 'ASKED')
       RETURNING run_id, seq, attempt, ended_at),
     given_up AS (
       UPDATE attempts a SET state = 'CANCELLED', ended_at = cancelled.ended_at
         FROM cancelled
        WHERE a.run_id = cancelled.run_id AND a.seq = cancelled.seq AND a.attempt = cancelled.attempt AND a.ended_at IS NULL),
     withdrawn AS (UPDATE asks SET state = 'CANCELLED', ended_at = clock_timestamp() WHERE run_id = $1 AND state = 'OPEN'),
     unnoticed AS (DELETE FROM ask_notices WHERE run_id = $1),
     ${RELEASE_LEASES},
     telling AS (
       SELECT $1 AS run_id, 'ended' AS kind, jsonb_build_object(
         'state', $3::text, 'reason', $2::text, 'by', $4::text::jsonb->'by',
         'released', coalesce((SELECT jsonb_agg(node_id ORDER BY node_id) FROM released), '[]')) AS data),
     told AS (${APPEND_EVENT}),
     ended AS (
       UPDATE runs SET state = $3, verdict = $4::json, ended_at = clock_timestamp(), version = version + 1
        WHERE run_id = $1 AND (state IN ('QUEUED', 'RUNNING')) IS TRUE
       RETURNING run_id)
     SELECT refuse('the run is over already') WHERE NOT EXISTS (SELECT FROM ended)`,
    [runId, verdict.reason, state, JSON.stringify(verdict)],
  );
}

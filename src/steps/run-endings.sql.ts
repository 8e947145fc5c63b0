import type { AssignedRole } from '../domain/matching/fleet.js';
import type { FinalState } from '../domain/states.js';
import type { Verdict } from '../domain/verdict.js';
import { RELEASE_LEASES } from '../leases/leases.sql.js';
import { type Write, write } from '../platform/database/statement.js';
import { APPEND_EVENT } from '../records/events.sql.js';

/** Shows the roles that the (locked) run has by now. */
export function writeAssigned(runId: string, assigned: AssignedRole[]): Write<void> {
  return write({
    name: 'steps.write-assigned',
    text: 'UPDATE runs SET assigned = $2, version = version + 1 WHERE run_id = $1',
    params: [runId, JSON.stringify(assigned)],
    otherwise: 'gone',
  });
}

/**
 * Ends the (locked) run, guarded by its not being over yet: every step that has not ended is cancelled, with the attempts
 * under way and the questions that are open; the leases are given back; the final state and the verdict are written.
 */
export function writeEnding(runId: string, state: FinalState, verdict: Verdict): Write<void> {
  return write({
    name: 'steps.write-ending',
    with: `
     cancelled AS (
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
     happened AS (
       SELECT $1 AS run_id, 'ended' AS kind, jsonb_build_object(
         'state', $3::text, 'reason', $2::text, 'by', $4::text::jsonb->'by',
         'released', coalesce((SELECT jsonb_agg(node_id ORDER BY node_id) FROM released), '[]')) AS data),
     recorded AS (${APPEND_EVENT})`,
    text: `
       UPDATE runs SET state = $3, verdict = $4::json, ended_at = clock_timestamp(), version = version + 1
        WHERE run_id = $1 AND (state IN ('QUEUED', 'RUNNING')) IS TRUE`,
    params: [runId, verdict.reason, state, JSON.stringify(verdict)],
    otherwise: 'run_over',
  });
}

/**
 * Adds the runs that have ended since the last time to how many had before. In one snapshot the two together are the same
 * before and after; what another server is adding up is left to it.
 */
export function addUpEnded(): Write<void> {
  return write({
    name: 'steps.add-up-ended',
    text: `
     WITH news AS MATERIALIZED (SELECT ctid FROM ended_runs_news FOR UPDATE SKIP LOCKED),
     taken AS (DELETE FROM ended_runs_news e USING news WHERE e.ctid = news.ctid RETURNING e.state, e.runs)
     INSERT INTO ended_runs AS ended (state, runs) SELECT state, sum(runs) FROM taken GROUP BY state ORDER BY state
         ON CONFLICT (state) DO UPDATE SET runs = ended.runs + excluded.runs`,
    rows: 'any',
  });
}

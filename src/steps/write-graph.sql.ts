import { toJson } from '../domain/json/raw-json.js';
import type { EndedAttempt } from '../domain/steps/step-graph.js';
import type { StepNow } from '../domain/steps/step-now.js';
import type { Tx } from '../platform/database/queryable.js';
import { APPEND_EVENT } from '../records/append-event.sql.js';

/**
 * Writes the steps that changed and the attempts that ended, all at one time, tells of each ending, and counts the change of
 * the run. A time stays where its state or attempt does: a step that was skipped and is now done has ended now, since
 * branches count in the order of these times. An attempt that nobody claimed or was asked has begun in this very moment.
 */
export function writeChanges(tx: Tx, runId: string, steps: StepNow[], attempts: EndedAttempt[]): void {
  const changed = steps.map(({ seq, state, node_id, attempt, chosen, result }) => ({
    seq,
    state,
    node_id,
    attempt,
    chosen,
    result,
  }));
  const told = attempts.map(({ seq, attempt, state, result }) => ({ seq, attempt, state, branch: result?.branch }));
  tx.send(
    `/* steps.write-graph */
     WITH now AS (SELECT clock_timestamp() AS at),
     written AS (
       UPDATE steps s
          SET state = c.state, node_id = c.node_id, attempt = c.attempt, chosen = c.chosen,
              result = CASE WHEN json_typeof(c.result) = 'null' THEN NULL ELSE c.result END,
              instance = CASE c.state WHEN 'PENDING' THEN '' ELSE s.instance END,
              started_at = CASE WHEN c.state IN ('PENDING', 'SKIPPED') THEN NULL
                                WHEN s.attempt = c.attempt THEN coalesce(s.started_at, now.at) ELSE now.at END,
              ended_at = CASE WHEN c.state NOT IN ('DONE', 'FAILED', 'SKIPPED') THEN NULL
                              WHEN s.state = c.state THEN coalesce(s.ended_at, now.at) ELSE now.at END
         FROM json_to_recordset($2::json) AS c (seq integer, state text, node_id text, attempt integer, chosen boolean, result json),
              now
        WHERE s.run_id = $1 AND s.seq = c.seq),
     ended AS (
       INSERT INTO attempts (run_id, seq, attempt, state, started_at, ended_at, result)
       SELECT $1, a.seq, a.attempt, a.state, now.at, now.at,
              CASE WHEN json_typeof(a.result) = 'null' THEN NULL ELSE a.result END
         FROM json_to_recordset($3::json) AS a (seq integer, attempt integer, state text, result json), now
           ON CONFLICT (run_id, seq, attempt) DO UPDATE
          SET state = excluded.state, ended_at = excluded.ended_at, result = excluded.result),
     telling AS (SELECT $1 AS run_id, 'step_ended' AS kind, data FROM jsonb_array_elements($4::jsonb) AS data),
     told AS (${APPEND_EVENT})
     UPDATE runs SET version = version + 1 WHERE run_id = $1`,
    [runId, toJson(changed), toJson(attempts), JSON.stringify(told)],
  );
}

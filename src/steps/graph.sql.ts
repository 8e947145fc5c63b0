import type { Contract } from '../domain/contract/contract.js';
import { rawJson, toJson } from '../domain/json/raw-json.js';
import type { AssignedRole } from '../domain/matching/fleet.js';
import { StepGraph } from '../domain/steps/step-graph.js';
import type { StepNow, EndedAttempt } from '../domain/steps/step-now.js';
import type { Tx } from '../platform/database/queryable.js';
import { type Read, read, type Write, write } from '../platform/database/statement.js';
import { APPEND_EVENT } from '../records/events.sql.js';

export interface LockedRunGraph {
  run_id: string;
  principal: string;
  assigned: AssignedRole[];
  graph: StepGraph;
  /** Nodes that this transaction has given back so far. */
  freed: string[];
}

/** The run's steps as they stand, now that it is locked; the order of their ends counts from 1. Undefined: there is no such run. */
export function readGraph(runId: string): Read<LockedRunGraph | undefined> {
  return read({
    name: 'steps.read-graph',
    text: `
     SELECT r.principal, r.contract, r.assigned,
            (SELECT json_agg(json_build_object(
                      'seq', s.seq, 'id', s.id, 'kind', s.kind, 'uses', s.uses, 'node_id', s.node_id, 'state', s.state,
                      'needs', s.needs, 'attempt', s.attempt, 'chosen', s.chosen, 'result', s.result,
                      'answer', (s.result->'answer')::text, 'ended', s.ended) ORDER BY s.seq)
               FROM (SELECT *, CASE WHEN ended_at IS NOT NULL THEN rank() OVER (ORDER BY ended_at, seq) END AS ended
                       FROM steps WHERE run_id = $1) AS s) AS steps
       FROM runs r WHERE r.run_id = $1`,
    params: [runId],
    as: (
      rows: {
        principal: string;
        contract: Contract;
        assigned: AssignedRole[] | null;
        steps: (StepNow & { answer: string | null })[] | null;
      }[],
    ) => {
      const [run] = rows;
      if (run === undefined) return undefined;
      const { principal, contract, assigned } = run;
      const steps = (run.steps ?? []).map(withAnswer);
      return { run_id: runId, principal, assigned: assigned ?? [], graph: new StepGraph(contract, steps), freed: [] };
    },
  });
}

/** A result may be written once more: what was answered stays as it was sent. */
function withAnswer({ answer, ...step }: StepNow & { answer: string | null }): StepNow {
  return answer === null ? step : { ...step, result: { ...step.result, answer: rawJson(answer) } };
}

/**
 * Writes the steps that changed and the attempts that ended, all at one time, writes an event for each ending, and counts the change of
 * the run. A time stays where its state or attempt does: a step that was skipped and is now done has ended now, since
 * branches count in the order of these times. An attempt that nobody claimed or was asked has begun in this very moment.
 */
function writeChanges(runId: string, steps: StepNow[], attempts: EndedAttempt[]): Write<void> {
  const changed = steps.map(({ seq, state, node_id, attempt, chosen, result }) => ({
    seq,
    state,
    node_id,
    attempt,
    chosen,
    result,
  }));
  const endings = attempts.map(({ seq, attempt, state, result }) => ({ seq, attempt, state, branch: result?.branch }));
  return write({
    name: 'steps.write-graph',
    with: `
     now AS (SELECT clock_timestamp() AS at),
     changed AS (
       UPDATE steps s
          SET state = c.state, node_id = c.node_id, attempt = c.attempt, chosen = c.chosen,
              result = CASE WHEN json_typeof(c.result) = 'null' THEN NULL ELSE c.result END,
              instance = CASE c.state WHEN 'PENDING' THEN '' ELSE s.instance END,
              pending_since = CASE WHEN c.state = 'PENDING' AND (s.state, s.attempt) <> (c.state, c.attempt) THEN now.at
                                   ELSE s.pending_since END,
              started_at = CASE WHEN c.state IN ('PENDING', 'SKIPPED') THEN NULL
                                WHEN s.attempt = c.attempt THEN coalesce(s.started_at, now.at) ELSE now.at END,
              ended_at = CASE WHEN c.state NOT IN ('DONE', 'FAILED', 'SKIPPED') THEN NULL
                              WHEN s.state = c.state THEN coalesce(s.ended_at, now.at) ELSE now.at END
         FROM json_to_recordset($2::json) AS c (seq integer, state text, node_id text, attempt integer, chosen boolean, result json),
              now
        WHERE s.run_id = $1 AND s.seq = c.seq RETURNING s.seq),
     ended AS (
       INSERT INTO attempts (run_id, seq, attempt, state, started_at, ended_at, result)
       SELECT $1, a.seq, a.attempt, a.state, now.at, now.at,
              CASE WHEN json_typeof(a.result) = 'null' THEN NULL ELSE a.result END
         FROM json_to_recordset($3::json) AS a (seq integer, attempt integer, state text, result json), now
           ON CONFLICT (run_id, seq, attempt) DO UPDATE
          SET state = excluded.state, ended_at = excluded.ended_at, result = excluded.result),
     happened AS (SELECT $1 AS run_id, 'step_ended' AS kind, data FROM jsonb_array_elements($4::jsonb) AS data),
     recorded AS (${APPEND_EVENT})`,
    text: 'UPDATE runs SET version = version + 1 WHERE run_id = $1',
    params: [runId, toJson(changed), toJson(attempts), JSON.stringify(endings)],
    otherwise: 'gone',
    also: { part: 'changed', rows: steps.length, otherwise: 'gone' },
  });
}

/** Writes what became of the run's steps, and notifies those who wait for one. Nothing changed: nothing is written. */
export function writeGraph(tx: Tx, { run_id, graph }: LockedRunGraph): void {
  const { steps, attempts } = graph.changes();
  if (steps.length === 0) return;
  tx.send(writeChanges(run_id, steps, attempts));
  tx.notify('steps');
  tx.notify('runs');
}

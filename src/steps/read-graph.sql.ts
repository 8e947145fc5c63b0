import type { Contract } from '../domain/contract/contract.js';
import { rawJson } from '../domain/json/raw-json.js';
import type { AssignedRole } from '../domain/matching/fleet.js';
import { StepGraph } from '../domain/steps/step-graph.js';
import type { StepNow } from '../domain/steps/step-now.js';
import type { Tx } from '../platform/database/queryable.js';

export interface RunInHand {
  run_id: string;
  principal: string;
  assigned: AssignedRole[];
  graph: StepGraph;
  /** Nodes that this transaction has given back so far. */
  freed: string[];
}

/** The run's steps as they stand, now that it is locked; the order of their ends counts from 1. Undefined: there is no such run. */
export async function readGraph(tx: Tx, runId: string): Promise<RunInHand | undefined> {
  const { rows } = await tx.query<{
    principal: string;
    contract: Contract;
    assigned: AssignedRole[] | null;
    steps: (StepNow & { answer: string | null })[] | null;
  }>(
    `/* steps.read-graph */
     SELECT r.principal, r.contract, r.assigned,
            (SELECT json_agg(json_build_object(
                      'seq', s.seq, 'id', s.id, 'kind', s.kind, 'uses', s.uses, 'node_id', s.node_id, 'state', s.state,
                      'needs', s.needs, 'attempt', s.attempt, 'chosen', s.chosen, 'result', s.result,
                      'answer', (s.result->'answer')::text, 'ended', s.ended) ORDER BY s.seq)
               FROM (SELECT *, CASE WHEN ended_at IS NOT NULL THEN rank() OVER (ORDER BY ended_at, seq) END AS ended
                       FROM steps WHERE run_id = $1) AS s) AS steps
       FROM runs r WHERE r.run_id = $1`,
    [runId],
  );
  const [run] = rows;
  if (run === undefined) return undefined;
  const { principal, contract, assigned } = run;
  const steps = (run.steps ?? []).map(withAnswer);
  return { run_id: runId, principal, assigned: assigned ?? [], graph: new StepGraph(contract, steps), freed: [] };
}

/** A result may be written once more: what was answered stays as it was sent. */
function withAnswer({ answer, ...step }: StepNow & { answer: string | null }): StepNow {
  return answer === null ? step : { ...step, result: { ...step.result, answer: rawJson(answer) } };
}

import type { Contract } from '../domain/contract/contract.js';
import { kindOf, needsOf } from '../domain/contract/valid-steps.js';
import type { AssignedRole } from '../domain/matching/fleet.js';
import { type Read, read, type Write, write } from '../platform/database/statement.js';

/**
 * The steps of a run as they are stored when it is created: one function for a run that starts at once, whose steps are
 * bound to the first node of their role, and one that waits, whose steps are bound to none.
 */
export function stepRows({ steps, ...contract }: Contract, assigned: AssignedRole[]): object[] {
  const needs = needsOf({ steps, ...contract });
  const nodes = new Map(assigned.map((role) => [role.as, role.nodes[0]!.node_id]));
  return steps.map((step, index) => ({
    seq: index + 1,
    id: step.id,
    kind: kindOf(step),
    uses: step.uses ?? null,
    needs: needs[index] ?? [],
    timeout_seconds: step.timeout_seconds ?? null,
    node_id: (step.uses !== undefined && nodes.get(step.uses)) || '',
  }));
}

/**
 * As a part of a statement that has a part `run (run_id)` and the steps of its contract, as `stepRows` gives them, in a part
 * `given (steps)`: inserts them, PENDING.
 */
export const INSERT_STEPS = `/* steps.insert */
  INSERT INTO steps (run_id, seq, id, kind, uses, needs, timeout_seconds, node_id)
  SELECT run.run_id, step.*
    FROM run, given, json_to_recordset(given.steps) AS step (seq integer, id text, kind text, uses text, needs text[],
                                                             timeout_seconds float8, node_id text)`;

/** As a part of a statement that has a part `promoted (run_id, assigned)`: binds the steps of each role to the first of its nodes. */
export const BIND_STEPS = `/* steps.bind */
  UPDATE steps s SET node_id = role.value->'nodes'->0->>'node_id'
    FROM promoted, json_array_elements(promoted.assigned) AS role
   WHERE s.run_id = promoted.run_id AND s.uses = role.value->>'as'`;

/**
 * As a part of a statement with the (locked) run's id as $1, of a run of which nothing has begun: its steps are as they were
 * while it waited. A claim that was lost on a node is no attempt.
 */
export const UNBIND_STEPS = `/* steps.unbind */
  UPDATE steps SET state = 'PENDING', node_id = '', instance = '', started_at = NULL, heard = false,
                   pending_since = NULL
   WHERE run_id = $1`;
export const DROP_LOST_ATTEMPTS = '/* steps.drop-lost-attempts */ DELETE FROM attempts WHERE run_id = $1';

/**
 * Whether nothing of the (locked) run has begun: no step has, but for claims of nodes that have not spoken since and are no
 * more live. An answer may have been lost on them; what they would still say is kept out by the nonce of their lease.
 * Uploads are asked for as there are indexes on them: those that are published, and the few that are not.
 */
export function hasBegun(runId: string): Read<boolean> {
  return read({
    name: 'steps.has-begun',
    text: `
     SELECT EXISTS (
              SELECT FROM steps s LEFT JOIN nodes n USING (node_id)
               WHERE s.run_id = $1 AND (s.state NOT IN ('PENDING', 'CLAIMED') OR s.attempt > 1
                  OR s.state = 'CLAIMED' AND (s.heard OR n.seen_at > s.started_at OR n.expires_at > clock_timestamp())))
         OR EXISTS (SELECT FROM logs WHERE run_id = $1)
         OR EXISTS (SELECT FROM blobs WHERE run_id = $1 AND published_at IS NOT NULL)
         OR EXISTS (SELECT FROM blobs WHERE run_id = $1 AND published_at IS NULL) AS begun`,
    params: [runId],
    as: (rows: { begun: boolean }[]) => rows[0]!.begun,
  });
}

/** What a step has to be for the server to fail it: somebody does it or is asked, or nobody has begun it. */
export type Fails = 'under way' | 'pending';

/** Ends a step, and its attempt, as FAILED. An attempt that nobody has begun is over in the moment it begins. */
export function writeFailure(runId: string, seq: number, error: string, fails: Fails): Write<void> {
  return write({
    name: 'steps.write-failure',
    with: `
     ended AS (
       UPDATE steps SET state = 'FAILED', ended_at = clock_timestamp(), result = $3
        WHERE run_id = $1 AND seq = $2 AND state = ANY ($4)
       RETURNING run_id, seq, attempt, node_id, state, ended_at, result),
     counted AS (UPDATE runs r SET version = version + 1 FROM ended WHERE r.run_id = ended.run_id)`,
    text: `
     INSERT INTO attempts (run_id, seq, attempt, node_id, state, started_at, ended_at, result)
     SELECT run_id, seq, attempt, node_id, state, ended_at, ended_at, result FROM ended
         ON CONFLICT (run_id, seq, attempt) DO UPDATE
        SET state = excluded.state, ended_at = excluded.ended_at, result = excluded.result`,
    params: [runId, seq, JSON.stringify({ error }), fails === 'pending' ? ['PENDING'] : ['CLAIMED', 'ASKED']],
    otherwise: 'not_under_way',
  });
}

import type { AssignedRole } from '../domain/matching/fleet.js';
import { GRANT_LEASES, type GrantedNode, lifeOf } from '../leases/grant-leases.sql.js';
import type { Tx } from '../platform/database/queryable.js';
import { APPEND_EVENT } from '../records/append-event.sql.js';
import { BIND_STEPS } from '../steps/bind-steps.sql.js';
import type { Why } from './why.js';

/** A queued run and the nodes, sorted by node_id, that it was matched with. */
export interface Promotable {
  run_id: string;
  assigned: AssignedRole[];
  nodes: GrantedNode[];
}

/** How many of the runs were still queued, how many leases they have got, and whether some step is the Mediator's own. */
export interface Promoted {
  moved: number;
  leased: number;
  own_steps: boolean;
}

/**
 * Moves queued runs to RUNNING, leases their nodes, binds their steps; in one statement, since it waits for nothing that it
 * then reads. Where fewer have moved, or fewer leases are there, than was wanted, the caller rolls back.
 */
export async function promoteRuns(tx: Tx, runs: Promotable[], whys: Why[], ttlSeconds: number): Promise<Promoted> {
  const { rows } = await tx.query<Promoted>(
    `/* queue.promote */
     WITH moved AS (
       UPDATE runs r
          SET state = 'RUNNING', assigned = given.assigned, started_at = clock_timestamp(),
              promoted_at = clock_timestamp(), promoted_whys = $2, version = version + 1
         FROM json_to_recordset($1::json) AS given (run_id text, assigned json, nodes json)
        WHERE r.run_id = given.run_id COLLATE "C" AND r.state = 'QUEUED'
       RETURNING r.run_id, r.assigned, given.nodes),
     wanted AS (
       SELECT moved.run_id, node.*, $3::float8 AS ttl
         FROM moved, json_to_recordset(moved.nodes) AS node (node_id text, offer_rev float8, roles text[])),
     ${GRANT_LEASES},
     bound AS (${BIND_STEPS}),
     telling AS (
       SELECT run_id, 'promoted' AS kind, jsonb_build_object('whys', $2::text[], 'nodes',
                ARRAY(SELECT node->>'node_id' FROM json_array_elements(moved.nodes) AS node)) AS data
         FROM moved),
     told AS (${APPEND_EVENT})
     SELECT (SELECT count(*)::int FROM moved) AS moved, (SELECT count(*)::int FROM leased) AS leased,
            EXISTS (SELECT FROM moved JOIN steps USING (run_id) WHERE kind IN ('acquire', 'ask')) AS own_steps`,
    [JSON.stringify(runs), whys, lifeOf(ttlSeconds)],
  );
  return rows[0]!;
}

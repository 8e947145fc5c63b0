import type { AssignedRole } from '../domain/matching/fleet.js';
import { GRANT_LEASES, type GrantedNode, lifeOf } from '../leases/leases.sql.js';
import type { Tx } from '../platform/database/queryable.js';
import { APPEND_EVENT } from '../records/events.sql.js';
import { BIND_STEPS } from '../steps/steps.sql.js';
import type { Why } from './why.js';

/** A queued run and the nodes, sorted by node_id, that it was matched with. */
export interface Promotable {
  run_id: string;
  assigned: AssignedRole[];
  nodes: GrantedNode[];
}

/**
 * Moves queued runs to RUNNING, leases their nodes, binds their steps; in one statement, since it waits for nothing that it
 * then reads. Refuses with `moved` where one is not queued any more, with `collided` where a node was not to be had.
 * Over the same rows written by a bare client in one statement: see `bench/results.md`.
 */
export function promoteRuns(tx: Tx, runs: Promotable[], whys: Why[], ttlSeconds: number): void {
  tx.send(
    `/* queue.promote */
     WITH moved AS (
       UPDATE runs r
          SET state = 'RUNNING', assigned = given.assigned, started_at = clock_timestamp(),
              promoted_at = clock_timestamp(), promoted_whys = $2, version = version + 1
         FROM json_to_recordset($1::json) AS given (run_id text, assigned json, nodes json)
        -- Found by its id: by its state would be to read the queue.
        WHERE r.run_id = given.run_id COLLATE "C" AND (r.state = 'QUEUED') IS TRUE
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
     SELECT refuse(CASE WHEN moved.runs < json_array_length($1::json) THEN 'moved' ELSE 'collided' END)
       FROM (SELECT count(*) AS runs FROM moved) AS moved
      WHERE moved.runs < json_array_length($1::json)
         OR (SELECT count(*) FROM leased) < (SELECT count(*) FROM wanted)`,
    [JSON.stringify(runs), whys, lifeOf(ttlSeconds)],
  );
}

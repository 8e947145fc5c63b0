import type { AssignedRole } from '../domain/matching/fleet.js';
import { GRANT_LEASES, type GrantedNode, lifeOf } from '../leases/leases.sql.js';
import { type Write, write } from '../platform/database/statement.js';
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
 * then reads. Refuses with `not_queued` where one is not queued any more, with `collided` where a node could not be taken.
 * Over the same rows written by a bare client in one statement: see `bench/results.md`.
 */
export function promoteRuns(runs: Promotable[], whys: Why[], ttlSeconds: number): Write<void> {
  return write({
    name: 'queue.promote',
    with: `
     promoted AS (
       UPDATE runs r
          SET state = 'RUNNING', assigned = given.assigned, started_at = clock_timestamp(),
              promoted_at = clock_timestamp(), promoted_whys = $2, version = version + 1
         FROM json_to_recordset($1::json) AS given (run_id text, assigned json, nodes json)
        -- Found by its id: by its state would be to read the queue.
        WHERE r.run_id = given.run_id COLLATE "C" AND (r.state = 'QUEUED') IS TRUE
       RETURNING r.run_id, r.assigned, given.nodes),
     wanted AS (
       SELECT promoted.run_id, node.*, $3::float8 AS ttl
         FROM promoted, json_to_recordset(promoted.nodes) AS node (node_id text, offer_rev float8, roles text[])),
     ${GRANT_LEASES},
     bound AS (${BIND_STEPS}),
     happened AS (
       SELECT run_id, 'promoted' AS kind, jsonb_build_object('whys', $2::text[], 'nodes',
                ARRAY(SELECT node->>'node_id' FROM json_array_elements(promoted.nodes) AS node)) AS data
         FROM promoted),
     recorded AS (${APPEND_EVENT})`,
    text: 'SELECT FROM promoted',
    params: [JSON.stringify(runs), whys, lifeOf(ttlSeconds)],
    rows: runs.length,
    otherwise: 'not_queued',
    also: { part: 'leased', rows: runs.reduce((sum, { nodes }) => sum + nodes.length, 0), otherwise: 'collided' },
  });
}

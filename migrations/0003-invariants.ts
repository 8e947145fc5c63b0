import type { MigrationInterface, QueryRunner } from 'typeorm';

/** The view `invariants`: one row for each place where a promise does not hold. It is empty, always. */
export class Invariants1790000000003 implements MigrationInterface {
  async up(runner: QueryRunner): Promise<void> {
    await runner.query(`CREATE ${INVARIANTS}`);
  }

  async down(runner: QueryRunner): Promise<void> {
    await runner.query('DROP VIEW invariants');
  }
}

// A need that had ended can be sent round its loop, or revived by a branch, after the step that needs it has begun.
export const INVARIANTS = `
VIEW invariants (rule, run_id, detail) AS
SELECT 'a running run was granted every node it is assigned', r.run_id, n.node->>'node_id'
  FROM runs r, json_array_elements(r.assigned) role, json_array_elements(role->'nodes') n(node)
 WHERE r.state = 'RUNNING'
   AND NOT EXISTS (SELECT FROM grants g WHERE g.run_id = r.run_id AND g.node_id = n.node->>'node_id')
UNION ALL
SELECT 'a queued run holds no lease', r.run_id, l.node_id
  FROM runs r JOIN leases l USING (run_id) WHERE r.state = 'QUEUED'
UNION ALL
SELECT 'the steps of a queued run are pending and bound to no node', r.run_id, s.id
  FROM runs r JOIN steps s USING (run_id) WHERE r.state = 'QUEUED' AND (s.state <> 'PENDING' OR s.node_id <> '')
UNION ALL
SELECT 'a run that is over holds no lease', r.run_id, l.node_id
  FROM runs r JOIN leases l USING (run_id) WHERE r.ended_at IS NOT NULL
UNION ALL
SELECT 'every step of a run that is over has ended', r.run_id, s.id
  FROM runs r JOIN steps s USING (run_id) WHERE r.ended_at IS NOT NULL AND s.ended_at IS NULL
UNION ALL
SELECT 'every attempt of an ended step has ended', a.run_id, s.id
  FROM attempts a JOIN steps s USING (run_id, seq) WHERE a.ended_at IS NULL AND s.ended_at IS NOT NULL
UNION ALL
SELECT 'a lease of a run under way has its open grant', l.run_id, l.node_id
  FROM leases l JOIN runs r USING (run_id)
 WHERE r.state = 'RUNNING'
   AND NOT EXISTS (SELECT FROM grants g WHERE g.run_id = l.run_id AND g.node_id = l.node_id AND g.released_at IS NULL)
UNION ALL
SELECT 'an open grant has its lease', g.run_id, g.node_id
  FROM grants g
 WHERE g.released_at IS NULL AND NOT EXISTS (SELECT FROM leases l WHERE l.run_id = g.run_id AND l.node_id = g.node_id)
UNION ALL
SELECT 'a record is closed exactly when its run is over', r.run_id, NULL
  FROM runs r LEFT JOIN records c USING (run_id)
 WHERE c.run_id IS NULL OR (c.closed_at IS NOT NULL) <> (r.ended_at IS NOT NULL)
UNION ALL
SELECT 'a claimed step belongs to a running run that holds its node', s.run_id, s.id
  FROM steps s JOIN runs r USING (run_id)
 WHERE s.state = 'CLAIMED'
   AND (r.state <> 'RUNNING' OR NOT EXISTS (SELECT FROM leases l WHERE l.run_id = s.run_id AND l.node_id = s.node_id))
UNION ALL
SELECT 'a claimed step has its attempt open', s.run_id, s.id
  FROM steps s
 WHERE s.state = 'CLAIMED'
   AND NOT EXISTS (SELECT FROM attempts a WHERE a.run_id = s.run_id AND a.seq = s.seq AND a.attempt = s.attempt AND a.state = 'CLAIMED')
UNION ALL
SELECT 'no step began before what it needs had ended', s.run_id, s.id
  FROM steps s JOIN steps n ON n.run_id = s.run_id AND n.id = ANY (s.needs)
 WHERE s.state IN ('CLAIMED', 'ASKED', 'DONE') AND n.state NOT IN ('DONE', 'SKIPPED')
   AND NOT EXISTS (SELECT FROM attempts a
                    WHERE a.run_id = s.run_id AND a.seq <> s.seq AND a.ended_at >= s.started_at
                      AND (a.state = 'ROLLED_BACK' OR a.result->>'branch' IS NOT NULL))
UNION ALL
SELECT 'a running run has a step that has not ended, and none that failed', r.run_id, NULL
  FROM runs r
 WHERE r.state = 'RUNNING'
   AND (NOT EXISTS (SELECT FROM steps s WHERE s.run_id = r.run_id AND s.ended_at IS NULL)
        OR EXISTS (SELECT FROM steps s WHERE s.run_id = r.run_id AND s.state = 'FAILED'))
UNION ALL
SELECT 'the steps of an assigned role of a running run are bound', r.run_id, s.id
  FROM runs r JOIN steps s USING (run_id), json_array_elements(r.assigned) role
 WHERE r.state = 'RUNNING' AND role->>'as' = s.uses AND s.node_id <> role->'nodes'->0->>'node_id'
`;

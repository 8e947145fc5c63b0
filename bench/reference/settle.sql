-- The report of a run's last step, as one statement: what `ReportResult` leaves, row by row. Only a measure: it locks and
-- looks in one snapshot, which the program must not (a cancel that came first would not be seen).
-- Locks rows in `nodes`, `leases`; updates steps, attempts, grants, runs, records; deletes from leases; inserts two events.
-- $1 run_id, $2 node_id, $3 nonce, $4 verdict
WITH held AS MATERIALIZED (
  SELECT l.node_id, l.run_id FROM nodes n JOIN leases l USING (node_id)
   WHERE node_id = $2 AND l.run_id = $1 AND l.nonce = $3
     FOR SHARE OF n FOR NO KEY UPDATE OF l),
step AS (
  UPDATE steps s SET state = 'DONE', ended_at = clock_timestamp(), result = '{"exit_code":0}'
    FROM held
   WHERE s.run_id = held.run_id AND s.seq = 1 AND s.node_id = held.node_id AND s.state = 'CLAIMED' AND s.attempt = 1
  RETURNING s.run_id, s.seq, s.attempt, s.state, s.ended_at, s.result),
attempt AS (
  UPDATE attempts a SET state = step.state, ended_at = step.ended_at, result = step.result
    FROM step WHERE a.run_id = step.run_id AND a.seq = step.seq AND a.attempt = step.attempt
  RETURNING a.run_id),
released AS (DELETE FROM leases l USING step WHERE l.run_id = step.run_id RETURNING l.node_id),
closed AS (
  UPDATE grants g SET released_at = clock_timestamp(), why = 'succeeded'
    FROM step WHERE g.run_id = step.run_id AND g.released_at IS NULL
  RETURNING g.run_id),
-- Counted twice, as the program does: the step has changed, and the run.
run AS (
  UPDATE runs r SET state = 'SUCCEEDED', verdict = $4, ended_at = clock_timestamp(), version = version + 2
    FROM step WHERE r.run_id = step.run_id AND r.state = 'RUNNING'
  RETURNING r.run_id),
event AS (
  INSERT INTO events (run_id, kind, data)
  SELECT step.run_id, told.kind, told.data
    FROM step, run, LATERAL (VALUES
           ('step_ended', jsonb_build_object('seq', step.seq, 'attempt', step.attempt, 'state', step.state)),
           ('ended', jsonb_build_object('state', 'SUCCEEDED', 'reason', 'succeeded', 'by', $4::jsonb -> 'by', 'released', ARRAY[$2::text])))
         AS told (kind, data)
  RETURNING run_id)
-- Last, since from then on triggers refuse the rest: it waits for what all of them have touched.
UPDATE records c SET closed_at = clock_timestamp()
  FROM (SELECT (SELECT count(*) FROM attempt) AS attempts, (SELECT count(*) FROM released) AS leases,
               (SELECT count(*) FROM closed) AS grants, (SELECT count(*) FROM event) AS events) AS done
 WHERE c.run_id = $1 AND c.closed_at IS NULL
   AND 1 / (CASE WHEN (attempts, leases, grants, events) = (1, 1, 1, 2) THEN 1 ELSE 0 END) = 1

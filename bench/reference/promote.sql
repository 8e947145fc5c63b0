-- A promotion, as one statement: what `Promote` leaves, row by row.
-- Locks its node's row in `nodes`; updates runs, steps; inserts into leases, grants, events.
-- $1 run_id, $2 assigned, $3 node_id, $4 offer_rev, $5 whys
WITH run AS (
  UPDATE runs
     SET state = 'RUNNING', assigned = $2, started_at = clock_timestamp(), promoted_at = clock_timestamp(),
         promoted_whys = $5, version = version + 1
   WHERE run_id = $1 AND state = 'QUEUED'
  RETURNING run_id),
offered AS MATERIALIZED (
  SELECT node_id FROM nodes
   WHERE node_id = $3 AND offer_rev = $4 AND expires_at > clock_timestamp() AND drain = '' AND NOT revived
     FOR SHARE),
lease AS (
  INSERT INTO leases (node_id, run_id, not_after, roles)
  SELECT node_id, run_id, clock_timestamp() + interval '1 hour', '{board}' FROM run, offered
      ON CONFLICT (node_id) DO NOTHING
  RETURNING node_id, run_id, roles, granted_at),
granted AS (INSERT INTO grants (node_id, run_id, roles, granted_at) SELECT node_id, run_id, roles, granted_at FROM lease),
bound AS (UPDATE steps s SET node_id = lease.node_id FROM lease WHERE s.run_id = lease.run_id AND s.uses = 'board'),
event AS (
  INSERT INTO events (run_id, kind, data)
  SELECT run_id, 'promoted', jsonb_build_object('whys', $5::text[], 'nodes', ARRAY[node_id]) FROM lease)
-- All or nothing: without a lease this divides by zero, and the statement has not happened.
SELECT 1 / count(*) FROM lease

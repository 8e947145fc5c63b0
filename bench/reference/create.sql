-- A submission that is matched, as one statement: what `CreateRun` leaves, row by row.
-- Locks its node's row in `nodes`; inserts into runs, records, steps (bound), leases, grants, events.
-- $1 run_id, $2 contract, $3 contract_hash, $4 requires, $5 signature, $6 assigned, $7 node_id, $8 offer_rev, $9 steps;
-- instead of DERIVED, $10 and so on: what else the program derives from a contract.
WITH offered AS MATERIALIZED (
  SELECT node_id FROM nodes
   WHERE node_id = $7 AND offer_rev = $8 AND expires_at > clock_timestamp() AND drain = '' AND NOT revived
     FOR SHARE),
run AS (
  INSERT INTO runs (run_id, state, principal, contract, contract_hash, requires, spread, signature, assigned, created_at, started_at/*, DERIVED */)
  SELECT $1, 'RUNNING', 'bench', $2, $3, $4, false, $5, $6, now.at, now.at/*, $DERIVED */
    FROM offered, (SELECT clock_timestamp() AS at) AS now
      ON CONFLICT (run_id) DO NOTHING
  RETURNING run_id),
record AS (INSERT INTO records (run_id) SELECT run_id FROM run),
step AS (
  INSERT INTO steps (run_id, seq, id, kind, uses, needs, timeout_seconds, node_id)
  SELECT run_id, seq, id, kind, uses, ARRAY(SELECT jsonb_array_elements_text(needs)), timeout_seconds, $7
    FROM run, jsonb_to_recordset($9::jsonb) AS step (seq integer, id text, kind text, uses text, needs jsonb, timeout_seconds float8)),
lease AS (
  INSERT INTO leases (node_id, run_id, not_after, roles)
  SELECT $7, run_id, clock_timestamp() + interval '1 hour', '{board}' FROM run
      ON CONFLICT (node_id) DO NOTHING
  RETURNING node_id, run_id, roles, granted_at),
granted AS (INSERT INTO grants (node_id, run_id, roles, granted_at) SELECT node_id, run_id, roles, granted_at FROM lease),
event AS (INSERT INTO events (run_id, kind, data) SELECT run_id, 'granted', jsonb_build_object('nodes', ARRAY[node_id]) FROM lease)
-- All or nothing: without a lease this divides by zero, and the statement has not happened.
SELECT 1 / count(*) FROM lease

/**
 * As parts of a statement with the (locked) run's id as $1 and the reason as $2: gives back every lease of the run,
 * `released (node_id)`, and closes its grants.
 */
export const RELEASE_LEASES = `
  released AS (DELETE FROM leases WHERE run_id = $1 RETURNING node_id),
  closed AS (UPDATE grants SET released_at = clock_timestamp(), why = $2 WHERE run_id = $1 AND released_at IS NULL)`;

import type { Tx } from '../platform/database/queryable.js';

/** A node to be leased: what it was matched by, and the roles it serves. */
export interface GrantedNode {
  node_id: string;
  offer_rev: number;
  roles: string[];
}

/**
 * As parts of a statement that has a part `wanted (run_id, node_id, offer_rev, roles, ttl)`: share-locks, in order of
 * node_id, those of these nodes that can still be granted (live, not draining, heard of since an outage, offering what they
 * were matched by), and inserts in this order a lease for each that has none, and a grant for each lease: `leased`.
 *
 * The lock needs no statement of its own here. Where it had to wait it reads the node's row again as it is then, if that was
 * changed; the clock is looked at behind it, row by row; and what is inserted is decided by a unique key, which looks at what
 * is there and not at what the statement's snapshot shows. Both wait for another transaction that is taking or giving back
 * one of the nodes.
 */
export const GRANT_LEASES = `
  offered AS MATERIALIZED (
    SELECT w.run_id, n.node_id, n.expires_at, w.roles, w.ttl
      FROM (SELECT * FROM wanted ORDER BY node_id COLLATE "C") AS w CROSS JOIN LATERAL (
        SELECT n.node_id, n.expires_at FROM nodes n
         WHERE n.node_id = w.node_id COLLATE "C" AND n.offer_rev = w.offer_rev AND n.drain = '' AND NOT n.revived
           FOR SHARE) AS n),
  leased AS (
    INSERT INTO leases (node_id, run_id, not_after, nonce, roles)
    SELECT node_id, run_id, clock_timestamp() + make_interval(secs => ttl), gen_random_uuid()::text, roles
      FROM offered WHERE expires_at > clock_timestamp()
        ON CONFLICT (node_id) DO NOTHING
    RETURNING node_id, run_id, roles, granted_at),
  granted AS (
    INSERT INTO grants (node_id, run_id, roles, granted_at)
    SELECT node_id, run_id, roles, granted_at FROM leased)`;

/**
 * Leases all of these nodes (sorted by node_id) to the run, or says that it collided: some node was taken, is no longer
 * live, drains, or offers something else.
 */
export async function grantLeases(
  tx: Tx,
  runId: string,
  nodes: GrantedNode[],
  ttlSeconds: number,
): Promise<'granted' | 'collided'> {
  const { rows } = await tx.query<{ leased: number }>(
    `/* leases.grant */
     WITH wanted AS (
       SELECT $1::text AS run_id, w.*, $3::float8 AS ttl
         FROM jsonb_to_recordset($2::jsonb) AS w (node_id text, offer_rev float8, roles text[])),
     ${GRANT_LEASES}
     SELECT count(*)::int AS leased FROM leased`,
    [runId, JSON.stringify(nodes), lifeOf(ttlSeconds)],
  );
  return rows[0]!.leased === nodes.length ? 'granted' : 'collided';
}

/**
 * Leases all of these nodes to a run that this transaction has inserted, or refuses with `collided`. Of a run that was there
 * before nothing is changed.
 */
export function grantNewRun(tx: Tx, runId: string, nodes: GrantedNode[], ttlSeconds: number): void {
  tx.send(
    `/* leases.grant-new-run */
     WITH wanted AS (
       SELECT r.run_id, w.*, $3::float8 AS ttl
         FROM runs r, jsonb_to_recordset($2::jsonb) AS w (node_id text, offer_rev float8, roles text[])
        WHERE r.run_id = $1 AND r.xmin = pg_current_xact_id()::xid),
     ${GRANT_LEASES}
     SELECT refuse('collided') WHERE (SELECT count(*) FROM leased) < (SELECT count(*) FROM wanted)`,
    [runId, JSON.stringify(nodes), lifeOf(ttlSeconds)],
  );
}

/** The first life of a lease, in seconds; throws where it would be endless. */
export function lifeOf(ttlSeconds: number): number {
  if (ttlSeconds > 0) return ttlSeconds;
  throw new Error('a lease must have an end: its time to live is not set');
}

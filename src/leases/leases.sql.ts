import { WITHDRAWN } from '../fleet/fleet-changes.sql.js';
import { type Read, read, type Write, write } from '../platform/database/statement.js';

export interface Lease {
  run_id: string;
  node_id: string;
  nonce: string;
  not_after: string;
}

/** Every lease of this node; the whole list is what an advert is answered with. */
export function readLeases(nodeId: string): Read<Lease[]> {
  return read({
    name: 'leases.read',
    text: 'SELECT run_id, node_id, nonce, not_after FROM leases WHERE node_id = $1',
    params: [nodeId],
    as: (rows: (Omit<Lease, 'not_after'> & { not_after: Date })[]) =>
      rows.map((row) => ({ ...row, not_after: row.not_after.toISOString() })),
  });
}

/** The nonce of the lease by which the run holds the node; undefined: it does not. */
export function readNonce(runId: string, nodeId: string): Read<string | undefined> {
  return read({
    name: 'leases.read-nonce',
    text: 'SELECT nonce FROM leases WHERE node_id = $1 AND run_id = $2',
    params: [nodeId, runId],
    as: (rows: { nonce: string }[]) => rows[0]?.nonce,
  });
}

/** How many nodes the (locked) run holds. */
export function countLeases(runId: string): Read<number> {
  return read({
    name: 'leases.count',
    text: 'SELECT count(*)::int AS count FROM leases WHERE run_id = $1',
    params: [runId],
    as: (rows: { count: number }[]) => rows[0]!.count,
  });
}

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
         WHERE n.node_id = w.node_id COLLATE "C" AND n.offer_rev = w.offer_rev AND ${WITHDRAWN} IS NULL
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

const WANTED = `
  wanted AS (
    SELECT $1::text AS run_id, w.*, $3::float8 AS ttl
      FROM jsonb_to_recordset($2::jsonb) AS w (node_id text, offer_rev float8, roles text[]))`;

/**
 * Leases all of these nodes (sorted by node_id) to the run, or says that it collided: some node was taken, is no longer
 * live, drains, or offers something else.
 */
export function grantLeases(runId: string, nodes: GrantedNode[], ttlSeconds: number): Write<'granted' | 'collided'> {
  return write({
    name: 'leases.grant',
    with: `${WANTED}, ${GRANT_LEASES}`,
    text: 'SELECT FROM leased',
    params: [runId, JSON.stringify(nodes), lifeOf(ttlSeconds)],
    rows: 'any',
    as: (_rows, leased) => (leased === nodes.length ? 'granted' : 'collided'),
  });
}

/**
 * Leases all of these nodes to a run that this transaction has inserted, or refuses with `collided`.
 */
export function grantNewRun(runId: string, nodes: GrantedNode[], ttlSeconds: number): Write<void> {
  return write({
    name: 'leases.grant-new-run',
    with: `${WANTED}, ${GRANT_LEASES}`,
    text: 'SELECT FROM leased',
    params: [runId, JSON.stringify(nodes), lifeOf(ttlSeconds)],
    rows: nodes.length,
    otherwise: 'collided',
  });
}

/** The first life of a lease, in seconds; throws where it would be endless. */
export function lifeOf(ttlSeconds: number): number {
  if (ttlSeconds > 0) return ttlSeconds;
  throw new Error('a lease must have an end: its time to live is not set');
}

/** Gives the leases of this (locked) node, of runs under way, `lifeSeconds` from now; also where that is earlier. */
export function renewLeases(nodeId: string, lifeSeconds: number): Write<void> {
  return write({
    name: 'leases.renew',
    text: `
     UPDATE leases l SET not_after = clock_timestamp() + make_interval(secs => $2)
      WHERE l.node_id = $1 AND EXISTS (SELECT FROM runs r WHERE r.run_id = l.run_id AND r.state = 'RUNNING')`,
    params: [nodeId, lifeSeconds],
    rows: 'any',
  });
}

/** Locks, in order of node_id, the leases that were alive at that time: a renewal or a release that is under way comes first. */
export function lockAlive(aliveAt: string): Read<void> {
  return read({
    name: 'leases.lock-alive',
    text: `
     SELECT count(*) FROM (
       SELECT FROM leases WHERE not_after > $1::timestamptz ORDER BY node_id FOR NO KEY UPDATE) alive`,
    params: [aliveAt],
  });
}

/** Gives the (locked) leases that were alive at that time at least so long from now. Gives how many there are. */
export function extendLeases(aliveAt: string, lifeSeconds: number): Write<number> {
  return write({
    name: 'leases.extend',
    text: `
     UPDATE leases SET not_after = greatest(not_after, clock_timestamp() + make_interval(secs => $2))
      WHERE not_after > $1::timestamptz`,
    params: [aliveAt, lifeSeconds],
    rows: 'any',
    as: (_rows, touched) => touched,
  });
}

/**
 * As parts of a statement with the (locked) run's id as $1 and the reason as $2: gives back every lease of the run,
 * `released (node_id)`, and closes its grants.
 */
export const RELEASE_LEASES = `
  released AS (DELETE FROM leases WHERE run_id = $1 RETURNING node_id),
  closed AS (UPDATE grants SET released_at = clock_timestamp(), why = $2 WHERE run_id = $1 AND released_at IS NULL)`;

/**
 * Gives these roles of a (locked) run back: a node that serves none but these is free again, one that serves others too
 * stays. Gives the nodes that are free now.
 */
export function releaseRoles(runId: string, roles: string[], why: string): Write<string[]> {
  return write({
    name: 'leases.release-roles',
    text: `
     WITH released AS (
       DELETE FROM leases WHERE run_id = $1 AND roles && $2::text[] AND roles <@ $2::text[] RETURNING node_id),
     closed AS (
       UPDATE grants g SET released_at = clock_timestamp(), why = $3 FROM released
        WHERE g.run_id = $1 AND g.node_id = released.node_id AND g.released_at IS NULL),
     narrowed AS (
       UPDATE leases SET roles = ARRAY(SELECT unnest(roles) EXCEPT SELECT unnest($2::text[]))
        WHERE run_id = $1 AND roles && $2::text[] AND NOT roles <@ $2::text[])
     SELECT node_id FROM released ORDER BY node_id`,
    params: [runId, roles, why],
    rows: 'any',
    as: (rows: { node_id: string }[]) => rows.map((row) => row.node_id),
  });
}

/** Deletes this lease of a run that is over, and touches no grant; false: it is gone already. */
export function deleteLease(nodeId: string, runId: string): Write<boolean> {
  return write({
    name: 'leases.delete',
    text: 'DELETE FROM leases WHERE node_id = $1 AND run_id = $2',
    params: [nodeId, runId],
    rows: 'any',
    as: (_rows, touched) => touched === 1,
  });
}

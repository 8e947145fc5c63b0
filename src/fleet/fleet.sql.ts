import type { Advert } from '../domain/matching/fleet.js';
import type { Drain } from '../domain/states.js';
import { type Read, read, type Write, write } from '../platform/database/statement.js';
import { EXPIRED_SECONDS, OFFERED, USE } from './fleet-changes.sql.js';

export interface LockedNode {
  instance: string;
  drain: Drain;
  live: boolean;
  /** It has ended a run by its own doing since it has done a step. */
  faulty: boolean;
}

const AS_LOCKED = "instance, drain, expires_at > clock_timestamp() AS live, faults <> '{}' AS faulty";

/** Share-locks the node's row, so that no advert changes it meanwhile. Undefined: it never advertised. */
export function lockNode(nodeId: string): Read<LockedNode | undefined> {
  return read({
    name: 'fleet.lock-node',
    text: `WITH locked AS MATERIALIZED (SELECT * FROM nodes WHERE node_id = $1 FOR SHARE) SELECT ${AS_LOCKED} FROM locked`,
    params: [nodeId],
    as: (rows: LockedNode[]) => rows[0],
  });
}

/** The same for a caller that may change the row: nobody else can hold it so meanwhile, and claims of the node wait. */
export function lockNodeToChange(nodeId: string): Read<LockedNode | undefined> {
  return read({
    name: 'fleet.lock-node-to-change',
    text: `WITH locked AS MATERIALIZED (SELECT * FROM nodes WHERE node_id = $1 FOR NO KEY UPDATE) SELECT ${AS_LOCKED} FROM locked`,
    params: [nodeId],
    as: (rows: LockedNode[]) => rows[0],
  });
}

/** Locks the nodes that the run holds, in order of node_id, and gives them: no advert and no claim of them is under way then. */
export function lockNodesOf(runId: string): Read<Set<string>> {
  return read({
    name: 'fleet.lock-nodes-of',
    text: `
     SELECT n.node_id FROM nodes n WHERE n.node_id IN (SELECT l.node_id FROM leases l WHERE l.run_id = $1)
      ORDER BY n.node_id FOR NO KEY UPDATE`,
    params: [runId],
    as: (rows: { node_id: string }[]) => new Set(rows.map(({ node_id }) => node_id)),
  });
}

/** Locks, in order of node_id, the nodes whose advert was alive at that time, and those that were remembered. */
export function lockExisting(at: string, rememberSeconds: number): Read<void> {
  return read({
    name: 'fleet.lock-existing',
    text: `
     SELECT count(*) FROM (
       SELECT FROM nodes
        WHERE greatest(expires_at, remembered_from) > $1::timestamptz - make_interval(secs => $2)
        ORDER BY node_id FOR NO KEY UPDATE) existing`,
    params: [at, rememberSeconds],
  });
}

/** The live adverts, by node_id. */
export function readAdverts(): Read<Advert[]> {
  return read({
    name: 'fleet.read-adverts',
    text: `
     SELECT node_id, label, ${OFFERED} AS capabilities, offer_rev::float8 AS offer_rev
       FROM nodes n WHERE expires_at > clock_timestamp() ORDER BY node_id`,
    as: (rows: Advert[]) => rows,
  });
}

/** The nodes that cannot be taken, of those that could be live. */
export function readUnavailable(): Read<{ all: Set<string> }> {
  return read({
    name: 'fleet.read-unavailable',
    text: `
     SELECT n.node_id FROM nodes n
      WHERE ${USE} IS NOT NULL AND n.expires_at > clock_timestamp() - make_interval(secs => $1)`,
    params: [EXPIRED_SECONDS],
    as: (rows: { node_id: string }[]) => ({ all: new Set(rows.map(({ node_id }) => node_id)) }),
  });
}

export interface Holding {
  run_id: string;
  /** Who submitted the run. */
  principal: string;
  since: string;
  not_after: string;
}

/** The leases of these nodes, by node; whoever is free by now is left out. */
export function readHoldings(nodeIds: string[]): Read<Map<string, Holding>> {
  return read({
    name: 'fleet.read-holdings',
    text: `
     SELECT l.node_id, l.run_id, r.principal, l.granted_at AS since, l.not_after
       FROM leases l JOIN runs r USING (run_id) WHERE l.node_id = ANY ($1::text[])`,
    params: [nodeIds],
    as: (rows: { node_id: string; run_id: string; principal: string; since: Date; not_after: Date }[]) =>
      new Map(
        rows.map(({ node_id, run_id, principal, since, not_after }) => [
          node_id,
          { run_id, principal, since: since.toISOString(), not_after: not_after.toISOString() },
        ]),
      ),
  });
}

/** What of the (locked) nodes was remembered at that time is so for as much longer as nobody was there to be spoken to since. */
export function rememberLonger(at: string, rememberSeconds: number): Write<void> {
  return write({
    name: 'fleet.remember-longer',
    text: `
     UPDATE nodes
        SET remembered_from = greatest(expires_at, remembered_from) + (clock_timestamp() - $1::timestamptz)
      WHERE greatest(expires_at, remembered_from) <= $1::timestamptz
        AND greatest(expires_at, remembered_from) > $1::timestamptz - make_interval(secs => $2)`,
    params: [at, rememberSeconds],
    rows: 'any',
  });
}

/**
 * Gives the (locked) adverts that were alive at that time at least so long from now; until its node speaks such an advert
 * is live and its node unavailable. Not those of nodes that have spoken since nobody was counted on any more: a heartbeat can
 * be faster than the look for an outage. Gives how many there are.
 */
export function reviveAdverts(aliveAt: string, silentSince: string, lifeSeconds: number): Write<number> {
  return write({
    name: 'fleet.revive-adverts',
    text: `
     UPDATE nodes
        SET revived = true, expires_at = greatest(expires_at, clock_timestamp() + make_interval(secs => $3))
      WHERE expires_at > $1::timestamptz AND seen_at < $2::timestamptz`,
    params: [aliveAt, silentSince, lifeSeconds],
    rows: 'any',
    as: (_rows, touched) => touched,
  });
}

import type { Hold, Unavailability } from '../domain/matching/fleet-use.js';
import type { CapabilityEntry } from '../domain/matching/fleet.js';
import { type Changes, SNAPSHOT_MARK, UNSEEN, KEPT_SECONDS } from '../platform/cache/cached-table.js';
import { type Read, read, type Write, write } from '../platform/database/statement.js';

/** Of JSON, as PostgreSQL writes it: twice what an advert may be that is taken. */
const MOST_BYTES = 128 * 1024;

/**
 * What a node `n` offers, as JSON; nothing where its advert is larger than any that is taken, as one may be that was stored by
 * a server before there was a limit. Every reading of the fleet would carry it along otherwise.
 */
export const OFFERED = `
  CASE WHEN octet_length(n.capabilities::text) <= ${MOST_BYTES} THEN n.capabilities::text ELSE '[]' END::json`;

/** A node as the sweep needs to know it. */
export interface NodeState {
  node_id: string;
  label: string;
  capabilities: CapabilityEntry[];
  offer_rev: number;
  /** Milliseconds since 1970, by the clock of the database. */
  expires_at: number;
  /** The same: once it is silent it is remembered from then on. */
  remembered_from: number;
  /** Null: it is free. */
  use: Unavailability | null;
  /** Who has taken it out of service, whatever else is true of it; null: nobody. */
  hold: Hold | null;
}

/** `gone`: nodes that are there no more. */
export interface FleetState extends Changes {
  nodes: NodeState[];
}

/** For how many seconds a node whose advert has expired is kept in mind at least: clocks may be set back, and nodes come back. */
export const EXPIRED_SECONDS = 3600;

/** The same, where it still exists for so long. */
export function keptSeconds(rememberSeconds: number): number {
  return Math.max(EXPIRED_SECONDS, rememberSeconds);
}

/** Why nothing new comes to a node `n`, free or not; null: nothing is against it. */
export const WITHDRAWN = `
  CASE WHEN n.drain <> '' THEN 'draining' WHEN n.held_since IS NOT NULL THEN 'held' WHEN n.revived THEN 'revived' END`;

/** A node `n` that was forgotten, and has not spoken since. */
export const FORGOTTEN = '(n.forgotten_at > n.seen_at) IS TRUE';

/** Why a node `n` is unavailable; null: it can be taken, if it is live. */
export const USE = `
  CASE WHEN EXISTS (SELECT FROM leases l WHERE l.node_id = n.node_id) THEN 'busy' ELSE ${WITHDRAWN} END`;

// Of json: to build jsonb out of jsonb takes each of its values apart and puts them in order again.
const NODE = `
  json_build_object('node_id', n.node_id, 'label', n.label, 'capabilities', ${OFFERED}, 'offer_rev', n.offer_rev,
    'expires_at', extract(epoch FROM n.expires_at) * 1000,
    'remembered_from', extract(epoch FROM greatest(n.expires_at, n.remembered_from)) * 1000,
    'use', ${USE},
    'hold', CASE WHEN n.held_since IS NOT NULL THEN json_build_object('reason', n.hold_reason, 'by', n.held_by) END)`;

/** The whole fleet, in one snapshot, without those of long ago: nobody is bounded in how many nodes he once had. */
export function readWholeFleet(rememberSeconds: number): Read<FleetState> {
  return read({
    name: 'fleet.read-whole',
    text: `
     SELECT ${SNAPSHOT_MARK}, '{}'::text[] AS gone, coalesce((
              SELECT json_agg(${NODE}) FROM nodes n
               WHERE greatest(n.expires_at, n.remembered_from) > clock_timestamp() - make_interval(secs => $1)
                 AND NOT ${FORGOTTEN}), '[]') AS nodes`,
    params: [keptSeconds(rememberSeconds)],
    as: (rows: FleetState[]) => rows[0]!,
  });
}

/** What was changed since that snapshot; some of it may be known already. */
export function readFleetChanges(since: string): Read<FleetState> {
  return read({
    name: 'fleet.read-changes',
    text: `
     WITH changed AS MATERIALIZED (SELECT DISTINCT node_id FROM fleet_changes WHERE ${UNSEEN})
     SELECT ${SNAPSHOT_MARK},
       ARRAY(SELECT c.node_id FROM changed c
              WHERE NOT EXISTS (SELECT FROM nodes n WHERE n.node_id = c.node_id AND NOT ${FORGOTTEN})) AS gone,
       coalesce((SELECT json_agg(${NODE}) FROM changed c JOIN nodes n USING (node_id) WHERE NOT ${FORGOTTEN}), '[]') AS nodes`,
    params: [since],
    as: (rows: FleetState[]) => rows[0]!,
  });
}

/** Forgets changes that everybody who keeps the fleet in memory has read, or has given up to. False: there were none. */
export function forgetFleetChanges(): Write<boolean> {
  return write({
    name: 'fleet.forget-changes',
    text: 'DELETE FROM fleet_changes WHERE at < clock_timestamp() - make_interval(secs => $1)',
    params: [KEPT_SECONDS],
    rows: 'any',
    as: (_rows, touched) => touched > 0,
  });
}

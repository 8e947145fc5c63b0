import type { CapabilityEntry } from '../domain/matching/fleet.js';
import type { Queryable } from '../platform/database/queryable.js';

/** A node as the sweep needs to know it. */
export interface NodeState {
  node_id: string;
  label: string;
  capabilities: CapabilityEntry[];
  offer_rev: number;
  /** Milliseconds since 1970, by the clock of the database. */
  expires_at: number;
  /** Busy, draining, or silent since an outage. */
  unavailable: boolean;
}

export interface FleetState {
  /** Every transaction before this one is seen in it; those from it on are to be read again. */
  snapshot: string;
  /** Which start of the database this is from. */
  boot: string;
  now: number;
  nodes: NodeState[];
  /** Nodes that are there no more; the empty string among them: nobody noted which were changed. */
  gone: string[];
}

const NODE = `
  jsonb_build_object('node_id', n.node_id, 'label', n.label, 'capabilities', n.capabilities, 'offer_rev', n.offer_rev,
    'expires_at', extract(epoch FROM n.expires_at) * 1000,
    'unavailable', n.drain <> '' OR n.revived OR EXISTS (SELECT FROM leases l WHERE l.node_id = n.node_id))`;
const MOMENT = `
  pg_snapshot_xmin(pg_current_snapshot())::text AS snapshot, pg_postmaster_start_time()::text AS boot,
  extract(epoch FROM clock_timestamp())::float8 * 1000 AS now`;

/** The whole fleet, in one snapshot. */
export async function readWholeFleet(database: Queryable): Promise<FleetState> {
  const { rows } = await database.query<FleetState>(
    `/* fleet.read-whole */
     SELECT ${MOMENT}, '{}'::text[] AS gone, coalesce((SELECT jsonb_agg(${NODE}) FROM nodes n), '[]') AS nodes`,
  );
  return rows[0]!;
}

/** What was changed since that snapshot; some of it may be known already. */
export async function readFleetChanges(database: Queryable, since: string): Promise<FleetState> {
  const { rows } = await database.query<FleetState>(
    `/* fleet.read-changes */
     WITH changed AS MATERIALIZED (SELECT DISTINCT node_id FROM fleet_changes WHERE changed >= $1::text::xid8)
     SELECT ${MOMENT},
       ARRAY(SELECT c.node_id FROM changed c WHERE NOT EXISTS (SELECT FROM nodes n WHERE n.node_id = c.node_id)) AS gone,
       coalesce((SELECT jsonb_agg(${NODE}) FROM changed c JOIN nodes n USING (node_id)), '[]') AS nodes`,
    [since],
  );
  return rows[0]!;
}

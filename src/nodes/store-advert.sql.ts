import type { Drain } from '../domain/drain.js';
import type { CapabilityEntry } from '../domain/matching/fleet.js';
import type { Tx } from '../platform/database/queryable.js';

export interface NewAdvert {
  node_id: string;
  label: string;
  instance: string;
  drain: Drain;
  capabilities: CapabilityEntry[];
}

/** What the last advert said. */
export interface AdvertBefore {
  instance: string;
  drain: Drain;
  capabilities: CapabilityEntry[];
  revived: boolean;
  /** It had expired, or was about to: less than half a renew period was left. */
  lapsing: boolean;
}

/** Locks the node's row and reads what it says; undefined for a node that is new. */
export async function lockAdvert(tx: Tx, nodeId: string, renewSeconds: number): Promise<AdvertBefore | undefined> {
  const { rows } = await tx.query<AdvertBefore>(
    `/* nodes.lock-advert */
     SELECT instance, drain, capabilities, revived, expires_at < clock_timestamp() + make_interval(secs => $2::float8 / 2) AS lapsing
       FROM nodes WHERE node_id = $1 FOR NO KEY UPDATE`,
    [nodeId, renewSeconds],
  );
  return rows[0];
}

/** Inserts a node that is new, without any offer; false where another advert was faster. */
export async function insertNode(tx: Tx, nodeId: string): Promise<boolean> {
  const { affected } = await tx.query(
    `/* nodes.insert */
     INSERT INTO nodes (node_id, label, capabilities, expires_at) VALUES ($1, $1, '[]', clock_timestamp())
         ON CONFLICT (node_id) DO NOTHING`,
    [nodeId],
  );
  return affected === 1;
}

export interface StoredAdvert {
  expires_at: Date;
  /** The run that this node is leased to. */
  leased_run: string | null;
  /** Whether a step is claimed by another, named instance of this node than the one that speaks. */
  restarted: boolean;
}

/** Replaces the advert of the locked node. */
export async function storeAdvert(tx: Tx, advert: NewAdvert, lifeSeconds: number): Promise<StoredAdvert> {
  const { rows } = await tx.query<StoredAdvert>(
    `/* nodes.store-advert */
     UPDATE nodes n
        SET label = $2, instance = $3, drain = $4, capabilities = $5, revived = false,
            offer_rev = offer_rev + (capabilities <> $5)::int,
            seen_at = clock_timestamp(), expires_at = clock_timestamp() + make_interval(secs => $6)
      WHERE node_id = $1
     RETURNING expires_at,
       (SELECT run_id FROM leases WHERE node_id = $1) AS leased_run,
       $3 <> '' AND EXISTS (
         SELECT FROM steps s
          WHERE s.node_id = $1 AND s.node_id <> '' AND s.state = 'CLAIMED'
            AND s.instance <> '' AND s.instance <> $3) AS restarted`,
    [advert.node_id, advert.label, advert.instance, advert.drain, JSON.stringify(advert.capabilities), lifeSeconds],
  );
  return rows[0]!;
}

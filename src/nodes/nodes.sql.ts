import type { CapabilityEntry } from '../domain/matching/fleet.js';
import type { Drain } from '../domain/states.js';
import { FORGOTTEN, OFFERED } from '../fleet/fleet-changes.sql.js';
import { type Read, read, type Write, write } from '../platform/database/statement.js';

export interface NewAdvert {
  node_id: string;
  label: string;
  instance: string;
  drain: Drain;
  capabilities: CapabilityEntry[];
  /** How far the process has counted its adverts. */
  seq?: number;
}

/** Locks the node's row, and nothing more: what depends on it is read by a later statement. False: the node is new. */
export function lockAdvert(nodeId: string): Read<boolean> {
  return read({
    name: 'nodes.lock-advert',
    text: 'SELECT FROM nodes WHERE node_id = $1 FOR NO KEY UPDATE',
    params: [nodeId],
    as: (_rows, touched) => touched === 1,
  });
}

/** Inserts a node that is new, without any offer; false where another advert was faster. */
export function insertNode(nodeId: string): Write<boolean> {
  return write({
    name: 'nodes.insert',
    text: `
     INSERT INTO nodes (node_id, label, capabilities, expires_at) VALUES ($1, $1, '[]', clock_timestamp())
         ON CONFLICT (node_id) DO NOTHING`,
    params: [nodeId],
    rows: 'any',
    as: (_rows, touched) => touched === 1,
  });
}

/** A step `s` that another, named instance of its node has claimed than $3, the one that speaks. */
const RESTARTED = "s.state = 'CLAIMED' AND s.instance <> '' AND s.instance <> $3";

/** Who has taken a node out of service, and since when. */
export interface NodeHold {
  reason: string;
  by: string;
  since: Date;
  /** The runs because of which the Mediator has; of a person there are none. */
  evidence?: string[];
}

interface HoldColumns {
  hold_reason: string | null;
  held_by: string | null;
  held_since: Date | null;
  hold_evidence: string[] | null;
}

/** Null: it is not out of service. */
export function holdOf({ hold_reason, held_by, held_since, hold_evidence }: HoldColumns): NodeHold | null {
  if (held_since === null) return null;
  return { reason: hold_reason!, by: held_by!, since: held_since, ...(hold_evidence && { evidence: hold_evidence }) };
}

/** Whether, and by whom, the (locked) node is out of service now. */
export function readHold(nodeId: string): Read<NodeHold | null> {
  return read({
    name: 'nodes.read-hold',
    text: 'SELECT hold_reason, held_by, held_since, hold_evidence FROM nodes WHERE node_id = $1',
    params: [nodeId],
    as: (rows: HoldColumns[]) => holdOf(rows[0]!),
  });
}

/** What the last advert said. */
export interface AdvertBefore {
  instance: string;
  drain: Drain;
  capabilities: CapabilityEntry[];
  revived: boolean;
  /** It had expired, or was about to: less than half a renew period was left. */
  lapsing: boolean;
  /** It is out of service; null: it is not. An advert changes nothing about that. */
  hold: NodeHold | null;
}

/**
 * What became of an advert. `superseded`: another process has taken the place of the one that speaks. `late`: one that the
 * process has sent after it came first. Neither changes anything; with each, what the node's row says.
 */
export type StoredAdvert =
  | { kind: 'superseded' }
  | { kind: 'late'; expires_at: Date; drain: Drain; hold: NodeHold | null }
  | {
      kind: 'stored';
      expires_at: Date;
      before: AdvertBefore;
      /** The run that this node is leased to. */
      leased_run: string | null;
      /** Whether a step is claimed by another, named instance of this node than the one that speaks. */
      restarted: boolean;
    };

/** So many superseded instances are kept: an advert of one that came before them counts as that of a new process. */
const SUPERSEDED_KEPT = 16;

/**
 * Replaces the advert of the locked node, and says what it was before: as it is now that nobody else holds the row, and by
 * the clock of now. Who waited for the row may have waited past its expiry.
 */
export function storeAdvert(
  advert: NewAdvert,
  { lifeSeconds, renewSeconds }: { lifeSeconds: number; renewSeconds: number },
): Write<StoredAdvert> {
  return write({
    name: 'nodes.store-advert',
    with: `
     now AS MATERIALIZED (SELECT clock_timestamp() AS at),
     before AS MATERIALIZED (
       SELECT n.node_id, n.instance, n.drain, n.capabilities, n.revived, n.expires_at,
              n.hold_reason, n.held_by, n.held_since, n.hold_evidence,
              n.expires_at < now.at + make_interval(secs => $7::float8 / 2) AS lapsing,
              $3 <> '' AND $3 = ANY (n.superseded) AS superseded,
              $3 <> '' AND $3 = n.instance AND n.expires_at > now.at AND coalesce($8::bigint <= n.seq, false) AS late
         FROM nodes n, now WHERE n.node_id = $1),
     stored AS (
       UPDATE nodes n
          SET label = $2, instance = $3, drain = $4, capabilities = $5, revived = false, forgotten_at = NULL,
              back_at = CASE WHEN n.revived OR n.expires_at <= now.at THEN now.at ELSE n.back_at END,
              offer_rev = n.offer_rev + (n.capabilities <> $5)::int,
              seq = CASE WHEN $3 = n.instance THEN coalesce($8, n.seq) ELSE $8 END,
              superseded = CASE WHEN $3 IN ('', n.instance) OR n.instance = '' THEN n.superseded
                                ELSE (n.instance || n.superseded)[1:${SUPERSEDED_KEPT}] END,
              seen_at = now.at, expires_at = now.at + make_interval(secs => $6)
         FROM before, now
        WHERE n.node_id = $1 AND NOT before.superseded AND NOT before.late
       RETURNING n.expires_at)`,
    text: `
     SELECT before.*, stored.expires_at AS stored_until,
       (SELECT run_id FROM leases WHERE node_id = $1) AS leased_run,
       $3 <> '' AND EXISTS (
         SELECT FROM steps s
          WHERE s.node_id = $1 AND s.node_id <> '' AND ${RESTARTED}) AS restarted
       FROM before LEFT JOIN stored ON true`,
    params: [
      advert.node_id,
      advert.label,
      advert.instance,
      advert.drain,
      JSON.stringify(advert.capabilities),
      lifeSeconds,
      renewSeconds,
      advert.seq ?? null,
    ],
    otherwise: 'gone',
    as: ([row]: AdvertRow[]) => {
      const { superseded, late, expires_at, stored_until, leased_run, restarted, ...before } = row!;
      const hold = holdOf(row!);
      if (superseded) return { kind: 'superseded' };
      if (late) return { kind: 'late', expires_at, drain: before.drain, hold };
      return { kind: 'stored', expires_at: stored_until!, before: { ...before, hold }, leased_run, restarted };
    },
  });
}

interface AdvertRow extends Omit<AdvertBefore, 'hold'>, HoldColumns {
  superseded: boolean;
  late: boolean;
  expires_at: Date;
  stored_until: Date | null;
  leased_run: string | null;
  restarted: boolean;
}

/** The steps of the (locked) run that another, named instance of this node has claimed. */
export function readRestarted(runId: string, nodeId: string, instance: string): Read<number[]> {
  return read({
    name: 'nodes.read-restarted',
    text: `
     SELECT s.seq FROM steps s WHERE s.run_id = $1 AND s.node_id = $2 AND ${RESTARTED} ORDER BY s.seq`,
    params: [runId, nodeId, instance],
    as: (rows: { seq: number }[]) => rows.map((row) => row.seq),
  });
}

/** Whether a step is under way on this node. */
export function hasClaimed(runId: string, nodeId: string): Read<boolean> {
  return read({
    name: 'nodes.has-claimed',
    text: "SELECT FROM steps WHERE run_id = $1 AND node_id = $2 AND state = 'CLAIMED' LIMIT 1",
    params: [runId, nodeId],
    as: (_rows, touched) => touched > 0,
  });
}

export interface NodeRow extends HoldColumns {
  node_id: string;
  label: string;
  capabilities: CapabilityEntry[];
  drain: Drain;
  seen_at: Date;
  expires_at: Date;
  live: boolean;
  run_id: string | null;
  principal: string;
  since: Date;
  not_after: Date;
}

/** What is shown of a node `n`, at the time `now.at`, with its lease `l` and the run `r` that holds it. */
export const NODE_COLUMNS = `
  n.node_id, n.label, ${OFFERED} AS capabilities, n.drain, n.seen_at, n.expires_at, n.hold_reason, n.held_by, n.held_since,
  n.hold_evidence, n.expires_at > now.at AS live, l.run_id, r.principal, l.granted_at AS since, l.not_after`;
const NOW = '(SELECT clock_timestamp() AS at) AS now';
export const WITH_LEASE = 'LEFT JOIN leases l USING (node_id) LEFT JOIN runs r USING (run_id)';

/** One node, live or not; undefined: there is none, or it was forgotten and those are not asked for. */
export function readNode(nodeId: string, forgotten: boolean): Read<NodeRow | undefined> {
  return read({
    name: 'nodes.read-one',
    text: `
     SELECT ${NODE_COLUMNS} FROM ${NOW} CROSS JOIN nodes n ${WITH_LEASE}
      WHERE n.node_id = $1 AND ($2 OR NOT ${FORGOTTEN})`,
    params: [nodeId, forgotten],
    as: (rows: NodeRow[]) => rows[0],
  });
}

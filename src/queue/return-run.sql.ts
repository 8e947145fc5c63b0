import type { Requirement } from '../domain/contract/contract.js';
import type { Unavailability } from '../domain/matching/fleet-use.js';
import type { Holder } from '../domain/waiting/waiting-role.js';
import type { WaitingReason } from '../domain/waiting/why-waiting.js';
import { WITHDRAWN } from '../fleet/fleet-changes.sql.js';
import { RELEASE_LEASES } from '../leases/leases.sql.js';
import { type Read, read, type Write, write } from '../platform/database/statement.js';
import { APPEND_EVENT } from '../records/events.sql.js';
import { LAST_WAIT } from '../records/waits.sql.js';
import { DROP_LOST_ATTEMPTS, UNBIND_STEPS } from '../steps/steps.sql.js';

/** A run under way as it has to be judged before it waits once more. */
export interface Returning {
  requires: Requirement[];
  spread: boolean;
  /** The nodes that it holds, and why nothing new comes to each once it is given back; null: nothing is against it. */
  nodes: { node_id: string; withdrawn: Unavailability | null }[];
}

/** What the (locked) run requires, and holds. */
export function readReturning(runId: string): Read<Returning> {
  return read({
    name: 'queue.read-returning',
    text: `
     SELECT r.requires, r.spread, (
              SELECT coalesce(json_agg(json_build_object('node_id', n.node_id, 'withdrawn', ${WITHDRAWN})), '[]')
                FROM leases l JOIN nodes n USING (node_id) WHERE l.run_id = r.run_id) AS nodes
       FROM runs r WHERE r.run_id = $1`,
    params: [runId],
    as: (rows: Returning[]) => rows[0]!,
  });
}

/** Why a run goes back: its nodes fell silent, or one of them drains. */
export type WhyReturned = 'lease_expired' | 'drained';

export interface WaitsAgain {
  why: WhyReturned;
  /** The nodes because of which it does. */
  nodes: string[];
  reason: WaitingReason;
  holders: Holder[];
}

/** So many waits of a run are kept, the first and the last ones. */
const WAITS_KEPT = 100;

/**
 * Moves the (locked) run, of which nothing has begun, from RUNNING back to its place in the queue: its leases are given back,
 * its steps bound to nothing, and it waits since now.
 */
export function writeReturn(runId: string, { why, nodes, reason, holders }: WaitsAgain): Write<void> {
  return write({
    name: 'queue.return',
    with: `
     ${RELEASE_LEASES},
     unbound AS (${UNBIND_STEPS}),
     dropped AS (${DROP_LOST_ATTEMPTS}),
     happened AS (
       SELECT $1 AS run_id, 'returned' AS kind, jsonb_build_object(
         'why', $2::text, 'nodes', $3::text[], 'reason', $4::text,
         'released', coalesce((SELECT jsonb_agg(node_id ORDER BY node_id) FROM released), '[]')) AS data),
     recorded AS (${APPEND_EVENT})`,
    text: `
     UPDATE runs r
        SET state = 'QUEUED', assigned = NULL, started_at = NULL, version = version + 1,
            earlier_waits = CASE WHEN queued_at IS NULL THEN earlier_waits
                                 WHEN jsonb_array_length(earlier_waits) < ${WAITS_KEPT - 1} THEN earlier_waits || ${LAST_WAIT}
                                 ELSE (earlier_waits - 1) || ${LAST_WAIT} END,
            queued_at = clock_timestamp(), wait_reason = $4, wait_holders = $5, promoted_at = NULL, promoted_whys = NULL
      WHERE run_id = $1 AND (state = 'RUNNING') IS TRUE`,
    params: [runId, why, nodes, reason, JSON.stringify(holders)],
    otherwise: 'run_over',
  });
}

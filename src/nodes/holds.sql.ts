import { FORGOTTEN } from '../fleet/fleet-changes.sql.js';
import { type Read, read, type Write, write } from '../platform/database/statement.js';

/** What a hold, its end and forgetting depend on; of a node that is locked. */
export interface NodeStanding {
  live: boolean;
  leased: boolean;
  held: boolean;
  forgotten: boolean;
}

/** How it stands with this (locked) node, by the clock of now. Undefined: it was never seen. */
export function readStanding(nodeId: string): Read<NodeStanding | undefined> {
  return read({
    name: 'nodes.read-standing',
    text: `
     SELECT n.expires_at > clock_timestamp() AS live, EXISTS (SELECT FROM leases WHERE node_id = $1) AS leased,
            n.held_since IS NOT NULL AS held, ${FORGOTTEN} AS forgotten
       FROM nodes n WHERE n.node_id = $1`,
    params: [nodeId],
    as: (rows: NodeStanding[]) => rows[0],
  });
}

const NO_HOLD = 'hold_reason = NULL, held_by = NULL, held_since = NULL, hold_evidence = NULL';

/** Takes the (locked) node out of service. Where it is already, it stays so since then, for another reason; the Mediator's own hold becomes a person's. */
export function writeHold(nodeId: string, reason: string, by: string): Write<void> {
  return write({
    name: 'nodes.hold',
    text: `
     UPDATE nodes
        SET hold_reason = $2, held_by = $3, held_since = coalesce(held_since, clock_timestamp()), hold_evidence = NULL
      WHERE node_id = $1`,
    params: [nodeId, reason, by],
    otherwise: 'gone',
  });
}

/** Puts the (locked) node back into service; what it did before is not held against it any more. */
export function clearHold(nodeId: string): Write<void> {
  return write({
    name: 'nodes.lift-hold',
    text: `UPDATE nodes SET ${NO_HOLD}, faults = '{}' WHERE node_id = $1`,
    params: [nodeId],
    otherwise: 'gone',
  });
}

/**
 * Shows the (locked) node to nobody any more until it speaks again; then any process may speak for it, and nothing is held
 * against it but what a person holds.
 */
export function writeForgotten(nodeId: string): Write<void> {
  return write({
    name: 'nodes.forget',
    text: `
     WITH lifted AS (SELECT hold_evidence IS NOT NULL AS own FROM nodes WHERE node_id = $1)
     UPDATE nodes
        SET forgotten_at = clock_timestamp(), instance = '', seq = NULL, superseded = '{}', faults = '{}', hold_evidence = NULL,
            hold_reason = CASE WHEN NOT own THEN hold_reason END, held_by = CASE WHEN NOT own THEN held_by END,
            held_since = CASE WHEN NOT own THEN held_since END
       FROM lifted WHERE node_id = $1`,
    params: [nodeId],
    otherwise: 'gone',
  });
}

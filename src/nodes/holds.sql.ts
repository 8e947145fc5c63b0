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

/** Takes the (locked) node out of service. Where it is already, it stays so since then, for another reason. */
export function writeHold(nodeId: string, reason: string, by: string): Write<void> {
  return write({
    name: 'nodes.hold',
    text: `
     UPDATE nodes SET hold_reason = $2, held_by = $3, held_since = coalesce(held_since, clock_timestamp())
      WHERE node_id = $1`,
    params: [nodeId, reason, by],
    otherwise: 'gone',
  });
}

/** Puts the (locked) node back into service. */
export function clearHold(nodeId: string): Write<void> {
  return write({
    name: 'nodes.lift-hold',
    text: 'UPDATE nodes SET hold_reason = NULL, held_by = NULL, held_since = NULL WHERE node_id = $1',
    params: [nodeId],
    otherwise: 'gone',
  });
}

/** Shows the (locked) node to nobody any more until it speaks again; then any process may speak for it. */
export function writeForgotten(nodeId: string): Write<void> {
  return write({
    name: 'nodes.forget',
    text: `
     UPDATE nodes SET forgotten_at = clock_timestamp(), instance = '', seq = NULL, superseded = '{}' WHERE node_id = $1`,
    params: [nodeId],
    otherwise: 'gone',
  });
}

import type { Tx } from '../platform/database/queryable.js';
import { type Write, write } from '../platform/database/statement.js';
import { APPEND_EVENT } from '../records/events.sql.js';

/** What a node does by which it ends a run, or sends it back to the queue; by the reasons of verdicts. */
const FAULTS = {
  node_restarted: 'by a restart',
  lease_expired: 'by falling silent',
  step_failed: 'by reporting an error',
  not_started: 'by not beginning a step',
} as const;

/** Who a hold is by that the Mediator itself has put on a node. */
const THE_MEDIATOR = 'mediator';

export interface Fault {
  /** Locked `FOR NO KEY UPDATE` since before the run was. */
  nodes: string[];
  run_id: string;
  kind: keyof typeof FAULTS;
}

/** Counts a fault of each of the nodes, where faults are counted: `quarantineAfter` so many in a row a node is held; 0: never. */
export function countFault(tx: Tx, fault: Fault, quarantineAfter: number): void {
  if (quarantineAfter > 0) tx.send(writeFault(fault, quarantineAfter));
}

/**
 * Whose `most`-th fault in a row it is, is taken out of service by the Mediator itself, with the runs as its evidence. Of who
 * is out of service already, nothing changes but the count.
 */
function writeFault({ nodes, run_id, kind }: Fault, most: number): Write<void> {
  const reason = `${most} runs in a row ended by its own doing, the last one ${FAULTS[kind]}`;
  return write({
    name: 'fleet.write-fault',
    with: `
     counted AS (
       SELECT node_id, (faults || $2::text)[greatest(cardinality(faults) + 2 - $3::int, 1):] AS faults,
              held_since IS NULL AND cardinality(faults) + 1 >= $3 AS held
         FROM nodes WHERE node_id = ANY ($1::text[])),
     changed AS (
       UPDATE nodes n
          SET faults = c.faults,
              held_since = CASE WHEN c.held THEN clock_timestamp() ELSE n.held_since END,
              held_by = CASE WHEN c.held THEN $4 ELSE n.held_by END,
              hold_reason = CASE WHEN c.held THEN $5 ELSE n.hold_reason END,
              hold_evidence = CASE WHEN c.held THEN c.faults ELSE n.hold_evidence END
         FROM counted c WHERE n.node_id = c.node_id
       RETURNING n.node_id, c.held, c.faults),
     happened AS (
       SELECT NULL AS run_id, 'node_held' AS kind,
              jsonb_build_object('node_id', node_id, 'by', $4::text, 'reason', $5::text, 'evidence', faults) AS data
         FROM changed WHERE held ORDER BY node_id),
     recorded AS (${APPEND_EVENT})`,
    text: 'SELECT FROM changed',
    params: [nodes, run_id, most, THE_MEDIATOR, reason],
    rows: nodes.length,
    otherwise: 'gone',
  });
}

/** The (locked) node has done a step: what it did before is not held against it any more. */
export function clearFaults(nodeId: string): Write<void> {
  return write({
    name: 'fleet.clear-faults',
    text: "UPDATE nodes SET faults = '{}' WHERE node_id = $1 AND faults <> '{}'",
    params: [nodeId],
    rows: 'any',
  });
}

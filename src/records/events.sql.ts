import { type Write, write } from '../platform/database/statement.js';

export type EventKind =
  | 'queued'
  | 'rejected'
  | 'granted'
  | 'promoted'
  | 'returned'
  | 'acquired'
  | 'released'
  | 'asked'
  | 'answered'
  | 'step_claimed'
  | 'step_ended'
  | 'cancelled'
  | 'ended'
  | 'leftover_lease_deleted';

/** Writes one line of a run's history, in the transaction that makes it true. */
export function appendEvent(runId: string, kind: EventKind, data: object = {}): Write<void> {
  return appendEvents(runId, kind, [data]);
}

/** Writes several lines of one kind, in their order. */
export function appendEvents(runId: string, kind: EventKind, data: object[]): Write<void> {
  return write({
    name: 'records.append-events',
    text: `
     INSERT INTO events (run_id, kind, data)
     SELECT $1, $2, data FROM jsonb_array_elements($3::jsonb) AS data`,
    params: [runId, kind, JSON.stringify(data)],
    rows: data.length,
    otherwise: 'gone',
  });
}

/** What was done to a node: an event of no run. */
type NodeEventKind = 'node_held' | 'node_lifted' | 'node_forgotten';

/** Writes down what a person has done to a node, in the transaction that does it. What the Mediator itself does: `fleet.write-fault`. */
export function appendNodeEvent(
  kind: NodeEventKind,
  data: { node_id: string; by: string; reason?: string },
): Write<void> {
  return write({
    name: 'records.append-node-event',
    text: 'INSERT INTO events (kind, data) VALUES ($1, $2)',
    params: [kind, JSON.stringify(data)],
    otherwise: 'gone',
  });
}

/** As a part of a statement that has a part `happened (run_id, kind, data)`: writes these lines. */
export const APPEND_EVENT = `/* records.append-event */
  INSERT INTO events (run_id, kind, data) SELECT run_id, kind, data FROM happened`;

import type { Tx } from '../platform/database/queryable.js';

export type EventKind =
  | 'queued'
  | 'rejected'
  | 'granted'
  | 'promoted'
  | 'acquired'
  | 'released'
  | 'asked'
  | 'answered'
  | 'step_claimed'
  | 'step_redelivered'
  | 'step_ended'
  | 'cancelled'
  | 'ended'
  | 'leftover_lease_deleted';

/** Writes one line of a run's history, in the transaction that makes it true. */
export function appendEvent(tx: Tx, runId: string, kind: EventKind, data: object = {}): Promise<void> {
  return appendEvents(tx, runId, kind, [data]);
}

/** Writes several lines of one kind, in their order. */
export async function appendEvents(tx: Tx, runId: string, kind: EventKind, data: object[]): Promise<void> {
  await tx.query(
    `/* records.append-events */
     INSERT INTO events (run_id, kind, data)
     SELECT $1, $2, data FROM jsonb_array_elements($3::jsonb) AS data`,
    [runId, kind, JSON.stringify(data)],
  );
}

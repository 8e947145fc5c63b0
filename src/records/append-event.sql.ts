import type { Tx } from '../platform/database/queryable.js';

export type EventKind =
  | 'submitted'
  | 'queued'
  | 'rejected'
  | 'granted'
  | 'promoted'
  | 'step_claimed'
  | 'step_redelivered'
  | 'step_ended'
  | 'cancelled'
  | 'ended'
  | 'leftover_lease_deleted';

/** Writes one line of a run's history, in the transaction that makes it true. */
export async function appendEvent(tx: Tx, runId: string, kind: EventKind, data: object = {}): Promise<void> {
  await tx.query('/* records.append-event */ INSERT INTO events (run_id, kind, data) VALUES ($1, $2, $3)', [
    runId,
    kind,
    JSON.stringify(data),
  ]);
}

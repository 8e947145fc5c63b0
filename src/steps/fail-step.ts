import type { Tx } from '../platform/database/queryable.js';
import { appendEvent } from '../records/append-event.sql.js';
import { writeFailure } from './write-failure.sql.js';

/** Fails a step of a locked run that is under way, without the node or the person having a say in it. */
export function failStep(tx: Tx, runId: string, seq: number, error: string): void {
  writeFailure(tx, runId, seq, error);
  appendEvent(tx, runId, 'step_ended', { seq, state: 'FAILED', error });
}

import type { Tx } from '../platform/database/queryable.js';
import { appendEvent } from '../records/append-event.sql.js';
import { writeFailure } from './write-failure.sql.js';

/** Fails a step of a locked run that is under way, without the node or the person having a say in it. */
export async function failStep(tx: Tx, runId: string, seq: number, error: string): Promise<void> {
  await writeFailure(tx, runId, seq, error);
  await appendEvent(tx, runId, 'step_ended', { seq, state: 'FAILED', error });
}

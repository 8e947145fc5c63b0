import type { Ending } from '../domain/verdict.js';
import { releaseLeases } from '../leases/release-leases.sql.js';
import type { Tx } from '../platform/database/queryable.js';
import { point } from '../platform/points.js';
import { appendEvent } from '../records/append-event.sql.js';
import { closeRecord } from '../records/close-record.sql.js';
import { cancelSteps } from './cancel-steps.sql.js';
import { writeEnding } from './write-ending.sql.js';

/**
 * Ends a run that this transaction has locked and that is not over: the remaining steps cancelled, the leases given back,
 * the verdict written, the record closed. The only writer of final states, but for a submission that is rejected.
 */
export async function endRun(tx: Tx, runId: string, { state, verdict }: Ending): Promise<void> {
  await cancelSteps(tx, runId);
  const released = await releaseLeases(tx, runId, verdict.reason);
  await point(`${tx.name}.before-verdict`);
  await writeEnding(tx, runId, state, verdict);
  await appendEvent(tx, runId, 'ended', { state, reason: verdict.reason, by: verdict.by, released });
  await closeRecord(tx, runId);
  tx.hint('runs');
}

import type { Ending } from '../domain/verdict.js';
import type { Tx } from '../platform/database/queryable.js';
import { closeRecord } from '../records/close-record.sql.js';
import { writeEnding } from './write-ending.sql.js';

/**
 * Ends a run that this transaction has locked and that is not over: the remaining steps cancelled, the leases given back,
 * the verdict written, the record closed. The only writer of final states, but for a submission that is rejected.
 */
export function endRun(tx: Tx, runId: string, { state, verdict }: Ending): void {
  writeEnding(tx, runId, state, verdict);
  closeRecord(tx, runId);
  tx.hint('runs');
}

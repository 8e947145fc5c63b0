import type { Tx } from '../platform/database/queryable.js';

/** Closes the record of a run: the last statement of the transaction that ends it. Afterwards the database refuses changes. */
export function closeRecord(tx: Tx, runId: string): void {
  tx.send(
    `/* records.close */
     WITH closed AS (
       UPDATE records SET closed_at = clock_timestamp() WHERE run_id = $1 AND closed_at IS NULL RETURNING run_id)
     SELECT refuse('the record is closed already') WHERE NOT EXISTS (SELECT FROM closed)`,
    [runId],
  );
}

import type { RunState } from '../domain/states.js';
import type { Tx } from '../platform/database/queryable.js';

export interface LockedRun {
  run_id: string;
  state: RunState;
}

/** Locks the run: until the commit nobody else changes it, its leases, steps or record. Undefined: there is no such run. */
export async function lockRun(tx: Tx, runId: string): Promise<LockedRun | undefined> {
  const { rows } = await tx.query<LockedRun>(
    '/* records.lock-run */ SELECT run_id, state FROM runs WHERE run_id = $1 FOR NO KEY UPDATE',
    [runId],
  );
  return rows[0];
}

import type { RunState } from '../domain/states.js';
import { type Read, read } from '../platform/database/statement.js';

export interface LockedRun {
  run_id: string;
  state: RunState;
}

/** Locks the run: until the commit nobody else changes it, its leases, steps or record. Undefined: there is no such run. */
export function lockRun(runId: string): Read<LockedRun | undefined> {
  return read({
    name: 'records.lock-run',
    text: 'SELECT run_id, state FROM runs WHERE run_id = $1 FOR NO KEY UPDATE',
    params: [runId],
    as: (rows: LockedRun[]) => rows[0],
  });
}

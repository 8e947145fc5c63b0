import type { Tx } from '../platform/database/queryable.js';
import type { Versioned } from './shown-version.js';

/** What the version of a run is made of, now; to be asked behind the run's lock. */
export async function readVersion(tx: Tx, runId: string): Promise<Versioned> {
  const { rows } = await tx.query<Versioned>(
    `/* runs.read-version */
     SELECT r.version, c.digest, c.purged_at IS NOT NULL AS purged
       FROM runs r JOIN records c USING (run_id) WHERE r.run_id = $1`,
    [runId],
  );
  return rows[0]!;
}

import type { Queryable } from '../platform/database/queryable.js';

export async function runExists(database: Queryable, runId: string): Promise<boolean> {
  const { rows } = await database.query('/* submission.run-exists */ SELECT 1 FROM runs WHERE run_id = $1', [runId]);
  return rows.length > 0;
}

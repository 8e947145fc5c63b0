import type { Queryable } from '../platform/database/queryable.js';

/** Who submitted the run. Undefined: there is no such run. */
export async function readPrincipal(database: Queryable, runId: string): Promise<string | undefined> {
  const { rows } = await database.query<{ principal: string }>(
    '/* runs.read-principal */ SELECT principal FROM runs WHERE run_id = $1',
    [runId],
  );
  return rows[0]?.principal;
}

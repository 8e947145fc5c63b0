import type { Queryable } from '../platform/database/queryable.js';
import type { BegunUpload } from './begin-upload.js';

/** The schema that the contract has for this output of the step; undefined: none. A contract never changes. */
export async function readSchema(
  database: Queryable,
  { run_id, seq, name }: BegunUpload,
): Promise<{ value: unknown } | undefined> {
  const { rows } = await database.query<{ value: unknown }>(
    `/* execution.read-schema */
     SELECT schema AS value
       FROM (SELECT contract->'steps'->($2::int - 1)->'schema'->$3::text AS schema FROM runs WHERE run_id = $1) AS step
      WHERE schema IS NOT NULL`,
    [run_id, seq, name],
  );
  return rows[0];
}

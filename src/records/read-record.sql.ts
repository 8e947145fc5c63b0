import type { Queryable } from '../platform/database/queryable.js';

export interface StoredRecord {
  closed_at: Date | null;
  files: Record<string, string> | null;
  sums: string | null;
  digest: string | null;
}

/** The record of a run as it is stored; undefined where there is no such run. */
export async function readRecord(database: Queryable, runId: string): Promise<StoredRecord | undefined> {
  const { rows } = await database.query<StoredRecord>(
    '/* records.read */ SELECT closed_at, files, sums, digest FROM records WHERE run_id = $1',
    [runId],
  );
  return rows[0];
}

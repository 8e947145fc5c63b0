import type { TestDatabase } from './database.js';

/**
 * How many rows of the run each table has that knows runs; tables without any are left out, and so is the note that it was
 * changed, which is no part of it and soon forgotten.
 */
export async function rowsOf(database: TestDatabase, runId: string): Promise<Record<string, number>> {
  const tables = await tablesOf(
    database,
    "AND t.table_name <> 'queue_changes' AND EXISTS (SELECT FROM information_schema.columns c WHERE c.table_schema = 'public' AND c.table_name = t.table_name AND c.column_name = 'run_id')",
  );
  const counts = tables.map(
    (table) => `SELECT '${table}' AS name, count(*)::int AS rows FROM ${table} WHERE run_id = $1`,
  );
  const rows = await database.sql<{ name: string; rows: number }>(counts.join(' UNION ALL '), [runId]);
  return Object.fromEntries(rows.filter((row) => row.rows > 0).map((row) => [row.name, row.rows]));
}

/**
 * Every row of every table, as text; without the servers' own heartbeats, and the notices they take away by themselves.
 * Equal before and after: nothing was stored. That a run stores no bytes is said by a row or by none.
 */
export async function everything(database: TestDatabase): Promise<Record<string, string[]>> {
  const tables = await tablesOf(database, "AND t.table_name NOT IN ('servers', 'ask_notices')");
  const reads = tables.map(
    (table) =>
      `SELECT '${table}' AS name, array_agg(r::text ORDER BY r::text) AS rows FROM ${table} r ${countsNothing(table)}`,
  );
  const rows = await database.sql<{ name: string; rows: string[] | null }>(reads.join(' UNION ALL '));
  return Object.fromEntries(rows.map((row) => [row.name, row.rows ?? []]));
}

const countsNothing = (table: string): string => (table === 'run_bytes' ? 'WHERE bytes > 0' : '');

async function tablesOf(database: TestDatabase, which: string): Promise<string[]> {
  const rows = await database.sql<{ name: string }>(
    `SELECT t.table_name AS name FROM information_schema.tables t
      WHERE t.table_schema = 'public' AND t.table_type = 'BASE TABLE' ${which} ORDER BY t.table_name`,
  );
  return rows.map((row) => row.name);
}

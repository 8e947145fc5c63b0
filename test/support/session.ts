import pg from 'pg';
import type { TestDatabase } from './database.js';

/** One connection past the server, for a transaction that stays open: `BEGIN`, a lock, and `COMMIT` when the test says so. */
export async function openSession(
  database: TestDatabase,
): Promise<{ sql(text: string, params?: unknown[]): Promise<unknown[]>; close(): Promise<void> }> {
  const client = new pg.Client({ connectionString: database.url });
  await client.connect();
  return {
    sql: async (text, params) => (await client.query(text, params)).rows,
    close: () => client.end(),
  };
}

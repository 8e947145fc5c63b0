import type { Queryable } from '../platform/database/queryable.js';

/** Resolves where the database answers and takes writes: it asks for the right to write, and touches no row. */
export async function ping(database: Queryable): Promise<void> {
  await database.query('/* health.ping */ SELECT FROM servers WHERE false FOR UPDATE');
}

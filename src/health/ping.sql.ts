import type { Queryable } from '../platform/database/queryable.js';

/** Resolves where the database answers. */
export async function ping(database: Queryable): Promise<void> {
  await database.query('/* health.ping */ SELECT 1');
}

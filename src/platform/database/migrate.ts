import type { DataSource } from 'typeorm';

/** Any number will do, as long as every Mediator takes the same: the lock that lets one of them migrate at a time. */
const MIGRATION_LOCK = 4_711_002_026;

/**
 * Brings the schema up to date. Several processes may start at once: they take turns on a session's advisory lock, held
 * by a connection of its own, since the migrations' own transaction cannot protect the table that counts them.
 */
export async function migrate(source: DataSource): Promise<void> {
  const holder = source.createQueryRunner();
  try {
    await holder.query('SET lock_timeout = 0');
    await holder.query('SELECT pg_advisory_lock($1)', [MIGRATION_LOCK]);
    try {
      await source.runMigrations({ transaction: 'each' });
    } finally {
      await holder.query('SELECT pg_advisory_unlock($1)', [MIGRATION_LOCK]);
      await holder.query('RESET lock_timeout');
    }
  } finally {
    await holder.release();
  }
}

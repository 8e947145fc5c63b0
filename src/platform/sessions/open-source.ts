import pg from 'pg';
import { DataSource, type Logger } from 'typeorm';
import { MIGRATIONS } from '../../../migrations/all.js';
import type { Config } from '../config/config.js';
import { TooLate, within } from '../within.js';
import { expectOwnBackend } from './expect-own-backend.js';
import { DatabaseUnavailable } from './faults.js';
import { SessionPool, type SessionPoolOptions } from './session-pool.js';

const nothing = (): void => undefined;
/** TypeORM logs migrations to the console, whatever `logging` is; their errors reach the caller all the same. */
export const SILENT: Logger = {
  logQuery: nothing,
  logQueryError: nothing,
  logQuerySlow: nothing,
  logSchemaBuild: nothing,
  logMigration: nothing,
  log: nothing,
};

/** Opens a pool of sessions. Throws where the database does not answer, and DatabaseUnfit where no Mediator can work by it. */
export async function openSource(url: string, config: Config): Promise<DataSource> {
  const { connectionLifeSeconds: lifeSeconds, answerSeconds } = config;
  const own: Pick<SessionPoolOptions, 'lifeSeconds' | 'answerSeconds'> = { lifeSeconds, answerSeconds };
  const source = new DataSource({
    type: 'postgres',
    driver: { ...pg, Pool: SessionPool },
    url,
    poolSize: config.dbPoolSize,
    connectTimeoutMS: 5000,
    applicationName: 'mediator',
    installExtensions: false,
    migrations: MIGRATIONS,
    migrationsTableName: 'migrations',
    logger: SILENT,
    // An idle connection that breaks is replaced at the next use; the statement that meets it reports it.
    poolErrorHandler: nothing,
    extra: {
      ...own,
      // Never closed for being idle: most of a laboratory's day is quiet, and a new connection has planned nothing yet.
      // The first submission after 12 s of quiet takes 7 ms, where they are closed after 10 s 28 ms.
      idleTimeoutMillis: 0,
      keepAlive: true,
      // A network that forgets idle connections, as many do after some minutes, keeps this one.
      keepAliveInitialDelayMillis: 60_000,
    },
  });
  try {
    await within(answerSeconds, openWhole(source));
    return source;
  } catch (error) {
    // Nobody else closes what it has opened.
    source.driver.disconnect().catch(nothing);
    throw error instanceof TooLate ? new DatabaseUnavailable(error) : error;
  }
}

async function openWhole(source: DataSource): Promise<void> {
  await source.initialize();
  await expectOwnBackend(source);
}

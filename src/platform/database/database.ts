import { Injectable, Logger } from '@nestjs/common';
import pg from 'pg';
import { DataSource } from 'typeorm';
import { MIGRATIONS } from '../../../migrations/all.js';
import { Config } from '../config/config.js';
import { Metrics } from '../metrics/metrics.js';
import { Notifier } from '../notifier/notifier.js';
import { TooLate, within } from '../within.js';
import { expectOwnBackend } from './expect-own-backend.js';
import { causeOf, DatabaseUnavailable, type SessionSpoiled } from './faults.js';
import type { Param, Queryable, Result, Tx } from './queryable.js';
import { Reads } from './reads.js';
import { SessionPool, type SessionPoolOptions } from './session-pool.js';
import { Session } from './session.js';
import { SILENT } from './silent.js';
import { Told } from './told.js';
import { transaction, type TransactionOptions } from './transaction.js';

const CLOSE_SECONDS = 0.5;

/** The one data source of the process: not connected until `connect`, so that the port can open first. */
@Injectable()
export class Database implements Queryable {
  #source: DataSource | undefined;
  readonly #logger = new Logger('database');
  readonly #told = new Told();
  readonly #reads = new Reads(
    async () => Session.open(this.source, this.config.answerSeconds),
    (fault) => this.#tell(fault),
  );

  constructor(
    private readonly config: Config,
    private readonly metrics: Metrics,
    private readonly notifier: Notifier,
  ) {}

  /**
   * Opens the pool. Throws where the database does not answer, and DatabaseUnfit where no Mediator can work by it; may be
   * called again.
   */
  async connect(url: string): Promise<void> {
    const { connectionLifeSeconds: lifeSeconds, answerSeconds } = this.config;
    const own: Pick<SessionPoolOptions, 'lifeSeconds' | 'answerSeconds'> = { lifeSeconds, answerSeconds };
    const source = new DataSource({
      type: 'postgres',
      driver: { ...pg, Pool: SessionPool },
      url,
      poolSize: this.config.dbPoolSize,
      connectTimeoutMS: 5000,
      applicationName: 'mediator',
      installExtensions: false,
      migrations: MIGRATIONS,
      migrationsTableName: 'migrations',
      logger: SILENT,
      // An idle connection that breaks is replaced at the next use; the statement that meets it reports it.
      poolErrorHandler: () => undefined,
      extra: {
        ...own,
        // Never closed for being idle: most of a laboratory's day is quiet, and a new connection has planned nothing yet.
        // The first submission after 12 s of quiet takes 7 ms, where they are closed after 10 s 28 ms.
        idleTimeoutMillis: 0,
        keepAlive: true,
        // A way that forgets what is idle, as many do after some minutes, is kept open.
        keepAliveInitialDelayMillis: 60_000,
      },
    });
    try {
      await within(answerSeconds, openWhole(source));
    } catch (error) {
      // Nobody else closes what it has opened.
      source.driver.disconnect().catch(() => undefined);
      throw error instanceof TooLate ? new DatabaseUnavailable(error) : error;
    }
    this.#source = source;
  }

  async disconnect(): Promise<void> {
    const source = this.#source;
    this.#source = undefined;
    if (source === undefined) return;
    try {
      await within(CLOSE_SECONDS, source.destroy());
    } catch (error) {
      // The other end does not answer to this either: the process ends without.
      if (!(error instanceof TooLate)) throw error;
    }
  }

  /** The connected data source; DatabaseUnavailable before `connect` and after `disconnect`. */
  get source(): DataSource {
    if (this.#source === undefined) throw new DatabaseUnavailable(new Error('not connected'));
    return this.#source;
  }

  /** One statement outside any transaction: a read that stands alone. */
  query<Row = Record<string, unknown>>(sql: string, params?: Param[]): Promise<Result<Row>> {
    return this.#reads.query<Row>(sql, params);
  }

  /** The only way to write: see `transaction`. */
  transaction<T>(
    name: string,
    work: (tx: Tx) => Promise<T>,
    options: Pick<TransactionOptions, 'retry'> = {},
  ): Promise<T> {
    return transaction(this.source, name, work, {
      ...options,
      answerSeconds: this.config.answerSeconds,
      onSpoiled: (fault) => this.#tell(fault),
      onRetry: () => this.metrics.transactionRetries.inc({ transaction: name }),
      onCommitted: (topics) => topics.forEach((topic) => this.notifier.notify(topic)),
    });
  }

  #tell(fault: SessionSpoiled): void {
    const cause = causeOf(fault);
    this.#told.tell(String(cause), (unsaid) =>
      this.#logger.warn({ msg: 'a bad database session was discarded', cause, suppressed: unsaid }),
    );
  }
}

async function openWhole(source: DataSource): Promise<void> {
  await source.initialize();
  await expectOwnBackend(source);
}

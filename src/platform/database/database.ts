import { Injectable } from '@nestjs/common';
import { DataSource } from 'typeorm';
import { MIGRATIONS } from '../../../migrations/all.js';
import { Config } from '../config/config.js';
import { Metrics } from '../metrics/metrics.js';
import { DatabaseUnavailable } from './faults.js';
import { Hints } from './hints.js';
import type { Queryable, Result, Tx } from './queryable.js';
import { query, transaction, type TransactionOptions } from './transaction.js';

/** What every session of ours relies on, whatever the role or the database has been given. */
const SESSION = [
  'lock_timeout=2s',
  'idle_in_transaction_session_timeout=10s',
  'synchronous_commit=on',
  'default_transaction_isolation=read\\ committed',
  'TimeZone=UTC',
];

/** The one data source of the process: not connected until `connect`, so that the port can open first. */
@Injectable()
export class Database implements Queryable {
  #source: DataSource | undefined;

  constructor(
    private readonly config: Config,
    private readonly metrics: Metrics,
    private readonly hints: Hints,
  ) {}

  /** Opens the pool. Throws where the database does not answer; may be called again. */
  async connect(url: string): Promise<void> {
    const source = new DataSource({
      type: 'postgres',
      url,
      poolSize: this.config.dbPoolSize,
      connectTimeoutMS: 5000,
      applicationName: 'mediator',
      installExtensions: false,
      migrations: MIGRATIONS,
      migrationsTableName: 'migrations',
      logging: false,
      // An idle connection that breaks is replaced at the next use; the statement that meets it reports it.
      poolErrorHandler: () => undefined,
      extra: {
        keepAlive: true,
        options: SESSION.map((setting) => `-c ${setting}`).join(' '),
      },
    });
    await source.initialize();
    this.#source = source;
  }

  async disconnect(): Promise<void> {
    const source = this.#source;
    this.#source = undefined;
    await source?.destroy();
  }

  /** The connected data source; DatabaseUnavailable before `connect` and after `disconnect`. */
  get source(): DataSource {
    if (this.#source === undefined) throw new DatabaseUnavailable(new Error('not connected'));
    return this.#source;
  }

  /** One statement outside any transaction: a read that stands alone. */
  async query<Row = Record<string, unknown>>(sql: string, params?: unknown[]): Promise<Result<Row>> {
    const runner = this.source.createQueryRunner();
    try {
      return await query<Row>(runner, sql, params);
    } finally {
      await runner.release();
    }
  }

  /** The only way to write: see `transaction`. */
  transaction<T>(
    name: string,
    work: (tx: Tx) => Promise<T>,
    options: Pick<TransactionOptions, 'retry'> = {},
  ): Promise<T> {
    return transaction(this.source, name, work, {
      ...options,
      onRetry: () => this.metrics.transactionRetries.inc({ transaction: name }),
      onCommitted: (hints) => hints.forEach((hint) => this.hints.ring(hint)),
    });
  }
}

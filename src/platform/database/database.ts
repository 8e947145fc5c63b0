import { Injectable } from '@nestjs/common';
import { DataSource } from 'typeorm';
import { MIGRATIONS } from '../../../migrations/all.js';
import { Config } from '../config/config.js';
import { Metrics } from '../metrics/metrics.js';
import { TooLate, within } from '../within.js';
import { DatabaseUnavailable } from './faults.js';
import { Hints } from './hints.js';
import { PooledClient } from './pooled-client.js';
import type { Param, Queryable, Result, Tx } from './queryable.js';
import { Reads } from './reads.js';
import { Session } from './session.js';
import { transaction, type TransactionOptions } from './transaction.js';

const CLOSE_SECONDS = 0.5;

/** What every session of ours relies on, whatever the role or the database has been given. */
const SESSION = [
  'lock_timeout=2s',
  'idle_in_transaction_session_timeout=10s',
  'synchronous_commit=on',
  'default_transaction_isolation=read\\ committed',
  'TimeZone=UTC',
  // Plans are kept with the statements, and made from guesses: an array has ten elements, a table what it last had. One that
  // reads a table whole, alone or to join it, is good while it is small and bad for ever after; so are those of foreign
  // keys. Everything that is asked often is found by an index.
  'enable_seqscan=off',
  'enable_hashjoin=off',
  'enable_mergejoin=off',
  // To plan costs more than to do it. The guess for any parameters is never the better one, so it would be made each time.
  'plan_cache_mode=force_generic_plan',
  // What it would cost to avoid that is made up, and no reason to compile.
  'jit=off',
];

/** The one data source of the process: not connected until `connect`, so that the port can open first. */
@Injectable()
export class Database implements Queryable {
  #source: DataSource | undefined;
  readonly #reads = new Reads(async () => Session.open(this.source, this.config.answerSeconds));

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
        Client: PooledClient,
        // Never closed for being idle: most of a laboratory's day is quiet, and a new connection has planned nothing yet.
        // The first submission after 12 s of quiet takes 7 ms, where they are closed after 10 s 28 ms.
        idleTimeoutMillis: 0,
        keepAlive: true,
        // A way that forgets what is idle, as many do after some minutes, is kept open.
        keepAliveInitialDelayMillis: 60_000,
        options: SESSION.map((setting) => `-c ${setting}`).join(' '),
      },
    });
    try {
      await within(this.config.answerSeconds, source.initialize());
    } catch (error) {
      if (!(error instanceof TooLate)) throw error;
      // Nobody else closes what it has opened.
      source.driver.disconnect().catch(() => undefined);
      throw new DatabaseUnavailable(error);
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
      onRetry: () => this.metrics.transactionRetries.inc({ transaction: name }),
      onCommitted: (hints) => hints.forEach((hint) => this.hints.ring(hint)),
    });
  }
}

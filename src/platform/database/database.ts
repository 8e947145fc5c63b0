import { Injectable, Logger } from '@nestjs/common';
import type { DataSource } from 'typeorm';
import { Config } from '../config/config.js';
import { SayOnce } from '../logging/say-once.js';
import { Metrics } from '../metrics/metrics.js';
import { Notifier } from '../notifier/notifier.js';
import { causeOf, DatabaseUnavailable, type SessionSpoiled } from '../sessions/faults.js';
import { openSource } from '../sessions/open-source.js';
import { Session } from '../sessions/session.js';
import { TooLate, within } from '../within.js';
import type { Queryable, Tx } from './queryable.js';
import { Reads } from './reads.js';
import type { Read } from './statement.js';
import { transaction, type TransactionOptions } from './transaction.js';

const CLOSE_SECONDS = 0.5;

/** The one data source of the process: not connected until `connect`, so that the port can open first. */
@Injectable()
export class Database implements Queryable {
  #source: DataSource | undefined;
  readonly #logger = new Logger('database');
  readonly #said = new SayOnce();
  readonly #reads = new Reads(
    async () => Session.open(this.source, this.config.answerSeconds),
    (fault) => this.#spoiled(fault),
  );

  constructor(
    private readonly config: Config,
    private readonly metrics: Metrics,
    private readonly notifier: Notifier,
  ) {}

  /** Opens the pool, as `openSource` says; may be called again where it failed. */
  async connect(url: string): Promise<void> {
    this.#source = await openSource(url, this.config);
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

  /** Reads outside any transaction. */
  ask<T>(statement: Read<T>): Promise<T> {
    return this.#reads.ask(statement);
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
      onSpoiled: (fault) => this.#spoiled(fault),
      onRetry: () => this.metrics.transactionRetries.inc({ transaction: name }),
      onCommitted: (topics) => topics.forEach((topic) => this.notifier.notify(topic)),
    });
  }

  #spoiled(fault: SessionSpoiled): void {
    const cause = causeOf(fault);
    this.#said.say(String(cause), (unsaid) =>
      this.#logger.warn({ msg: 'a bad database session was discarded', cause, suppressed: unsaid }),
    );
  }
}

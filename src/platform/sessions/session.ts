import pg from 'pg';
import type { DataSource, QueryRunner } from 'typeorm';
import { DatabaseUnavailable, isUnreachable, mayBeTheStatement, SessionSpoiled, spoils, sqlState } from './faults.js';
import type { PooledClient } from './pooled-client.js';
import type { Query, Result } from './query.js';
import { breakOff } from './session-client.js';

/** TypeORM's, which can throw its connection away. */
interface Runner extends QueryRunner {
  releasePostgresConnection(error?: Error): Promise<void>;
}

/** pg's, by the name of a prepared statement, which its types leave out. */
interface NamedQuery extends pg.Query {
  name?: string;
}

/**
 * A connection of the pool, for a while. Statements are carried out in the order in which they are sent. One may be sent
 * before the last is answered: each is still a statement of its own, with a snapshot from after all that went before it,
 * but together they cost one round trip. Of the time that eight small statements take over a Unix socket, sent one by one
 * and parsed each time: sent together 0.68, kept prepared 0.49, both 0.31.
 */
export class Session {
  #waiting = 0;
  #patience: NodeJS.Timeout | undefined;
  #failed = false;
  #spoilt: Error | undefined;
  readonly #fresh: boolean;

  private constructor(
    private readonly runner: Runner,
    private readonly client: PooledClient,
    private readonly answerSeconds: number,
  ) {
    this.#fresh = client.fresh;
    client.fresh = false;
  }

  /** DatabaseUnavailable where there is no connection to be had. `answerSeconds`: how long the next answer is waited for. */
  static async open(source: DataSource, answerSeconds: number): Promise<Session> {
    const runner = source.createQueryRunner() as Runner;
    try {
      return new Session(runner, (await runner.connect()) as PooledClient, answerSeconds);
    } catch (error) {
      await runner.release();
      // Whatever it is, a password that was changed meanwhile among it: of what was asked nothing has happened.
      throw error instanceof DatabaseUnavailable ? error : new DatabaseUnavailable(error);
    }
  }

  /** Sends a statement now; DatabaseUnavailable where it is not answered, SessionSpoiled where another session may do it. */
  async send(query: Query): Promise<Result> {
    this.#expectAnswer();
    try {
      const { rows, rowCount, command } = await this.#query(query);
      return { rows, touched: rowCount ?? 0, command };
    } catch (error) {
      // The answer was read from a socket: who had asked is known here.
      if (error instanceof Error) Error.captureStackTrace(error);
      throw this.#judge(error);
    } finally {
      this.#waiting -= 1;
      if (this.#waiting === 0) clearTimeout(this.#patience);
      else this.#patience?.refresh();
    }
  }

  /** Gives the connection back, or throws it away where it is not as good as it was. */
  async close(): Promise<void> {
    if (this.#spoilt === undefined && this.client.getTransactionStatus() !== 'I') {
      this.#spoilt = new Error('it was left in the middle of a transaction');
    }
    await this.runner.releasePostgresConnection(this.#spoilt);
  }

  #judge(error: unknown): unknown {
    const first = !this.#failed;
    this.#failed = true;
    if (spoils(error, first)) {
      this.#spoilt ??= error as Error;
      // A statement that a new session refuses like this is a fault of ours.
      return this.#fresh && mayBeTheStatement(error) ? error : new SessionSpoiled(error, this.#fresh);
    }
    // What was not said by PostgreSQL leaves it open where the two of them stand.
    if (sqlState(error) === undefined) this.#spoilt ??= error as Error;
    return isUnreachable(error) ? new DatabaseUnavailable(error) : error;
  }

  /** One timer for all that is under way: of a connection that takes bytes and brings none back nobody else would know. */
  #expectAnswer(): void {
    this.#waiting += 1;
    // Everybody who waits learns that the connection has ended, and the next one to get a connection does not wait as well.
    if (this.#waiting === 1) this.#patience = setTimeout(() => breakOff(this.client), this.answerSeconds * 1000);
  }

  #query({ preparedAs, text, params }: Query): Promise<pg.QueryResult> {
    this.client.gather();
    return new Promise((resolve, reject) => {
      const query: NamedQuery = new pg.Query(text, params as unknown[], (error, result) => {
        if (error == null) resolve(result);
        else reject(error);
      });
      // Given as a configuration, pg would copy it property by property, which took up to a twentieth of a small transaction.
      query.name = preparedAs;
      this.client.query(query);
    });
  }
}

/** What a statement gave: its rows, and how many rows it touched. */
export interface Result<Row> {
  rows: Row[];
  affected: number;
}

/** Where a statement can be sent: a transaction, or the database itself for a read that stands alone. */
export interface Queryable {
  query<Row = Record<string, unknown>>(sql: string, params?: unknown[]): Promise<Result<Row>>;
}

/** What other processes, and parked calls of this one, are told after a commit: that there is something to look at. */
export type Hint = 'steps' | 'runs' | 'asks' | 'logs';

/** An open transaction: the first argument of every step, never optional, never ambient. */
export interface Tx extends Queryable {
  readonly name: string;
  /**
   * Sends a statement whose answer nobody needs: it costs no round trip of its own. Where it fails, or touches another
   * number of rows than it must, the transaction fails: at the next answer that is waited for, or instead of its commit.
   */
  send(sql: string, params?: unknown[], must?: { touch: number }): void;
  /** Tells whoever waits for such a thing to look, once this transaction is committed. */
  hint(hint: Hint): void;
  /** Runs a part of it that is undone by itself where it throws; the error goes on to the caller. */
  savepoint<T>(part: () => Promise<T>): Promise<T>;
}

/** Thrown inside a transaction to roll it back and still answer: an outcome, not a fault. */
export class Rollback<T> extends Error {
  constructor(readonly outcome: T) {
    super('rolled back');
  }
}

/** What a statement gave: its rows, and how many rows it touched. */
export interface Result<Row> {
  rows: Row[];
  affected: number;
}

/**
 * What can be given to a statement. JSON is given as text: to write it here could fail, and a statement that is not sent at
 * all keeps no COMMIT from happening.
 */
export type Param = string | number | boolean | Date | Buffer | null | undefined | readonly Param[];

/** Where a statement can be sent: a transaction, or the database itself for a read that stands alone. */
export interface Queryable {
  query<Row = Record<string, unknown>>(sql: string, params?: Param[]): Promise<Result<Row>>;
}

/** What other processes, and parked calls of this one, are notified of after a commit: there is something to look at. */
export type Topic = 'steps' | 'runs' | 'asks' | 'logs';

/** An open transaction: the first argument of every step, never optional, never ambient. */
export interface Tx extends Queryable {
  readonly name: string;
  /**
   * Sends a statement whose answer nobody needs: it costs no round trip of its own. Where it fails the transaction fails: at
   * the next answer that is waited for, or instead of its commit. What must have an effect says so itself, by `refuse`.
   */
  send(sql: string, params?: Param[]): void;
  /** Notifies whoever waits for such a thing, once this transaction is committed. */
  hint(topic: Topic): void;
  /** Runs a part of it that is undone by itself where it throws; the error goes on to the caller. */
  savepoint<T>(part: () => Promise<T>): Promise<T>;
}

/** Thrown inside a transaction to roll it back and still answer: an outcome, not a fault. */
export class Rollback<T> extends Error {
  constructor(readonly outcome: T) {
    super('rolled back');
  }
}

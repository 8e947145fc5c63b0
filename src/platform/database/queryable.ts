import type { Answers, Read, Statement } from './statement.js';

/** Where a read that stands alone can be sent: a transaction, or the database itself. */
export interface Queryable {
  ask<T>(statement: Read<T>): Promise<T>;
}

/** What other processes, and parked calls of this one, are notified of after a commit: there is something to look at. */
export type Topic = 'steps' | 'runs' | 'asks' | 'logs';

/** An open transaction: the first argument of every step, never optional, never ambient. */
export interface Tx {
  readonly name: string;
  /** Sends a statement, and gives its answer. Nothing else is sent meanwhile. */
  ask<T>(statement: Statement<T>): Promise<T>;
  /** Sends several, in this order, and gives their answers: together they cost one round trip. */
  ask<const List extends readonly [Statement<unknown>, Statement<unknown>, ...Statement<unknown>[]]>(
    ...list: List
  ): Promise<Answers<List>>;
  /**
   * Sends a statement whose answer nothing here depends on: it costs no round trip of its own. Where it fails the transaction
   * fails: at the next answer that is waited for, or instead of its commit. What it gives waits for the answer, which is
   * there after the commit at the latest.
   */
  send<T>(statement: Statement<T>): () => Promise<T>;
  /** Notifies everybody who waits for this topic, once this transaction is committed. */
  notify(topic: Topic): void;
}

/** Thrown inside a transaction to roll it back and still answer: an outcome, not a fault. */
export class Rollback<T> extends Error {
  constructor(readonly outcome: T) {
    super('rolled back');
  }
}

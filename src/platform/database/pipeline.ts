import { failpointBehind } from '../failpoints.js';
import { CommitUnknown, DatabaseUnavailable, isUnreachable } from '../sessions/faults.js';
import type { Query, Result } from '../sessions/query.js';
import type { Session } from '../sessions/session.js';
import type { Statement } from './statement.js';

/**
 * One transaction on a connection: its statements are carried out in the order in which they are sent, some of them before
 * the last is answered. START TRANSACTION goes out with the first of them, COMMIT behind the last.
 */
export class Pipeline {
  readonly #sent: Promise<unknown>[] = [];
  #failure: { error: unknown } | undefined;
  #asking = false;
  #ended = false;

  constructor(
    private readonly name: string,
    private readonly session: Session,
  ) {
    void this.#keep(this.#resultOf({ text: 'START TRANSACTION' }));
  }

  /** Sends these, in this order, and waits for their answers. Until they have come nothing else is sent. */
  async ask(list: readonly Statement<unknown>[]): Promise<unknown[]> {
    const answers = list.map((statement) => this.send(statement));
    this.#asking = true;
    try {
      return await Promise.all(answers);
    } finally {
      this.#asking = false;
    }
  }

  /** Sends a statement; `allAnswered` waits for its answer too. */
  send<T>(statement: Statement<T>): Promise<T> {
    // What was asked decides what follows, and after a failure or the end nothing does, least of all outside of it.
    if (this.#ended) throw new Error(`transaction ${this.name} has ended`);
    if (this.#asking) throw new Error(`transaction ${this.name} sends two things at once: it lists what goes together`);
    return this.#keep(this.#answerTo(statement));
  }

  /** Returns when everything that was sent is answered; throws where one of it has failed. */
  async allAnswered(): Promise<void> {
    await Promise.all(this.#sent);
  }

  /** Where a statement has failed, so has the COMMIT behind it; CommitUnknown: it got no answer, and may have happened. */
  async commit(): Promise<void> {
    this.#ended = true;
    const [answered, committed] = await Promise.allSettled([this.allAnswered(), this.session.send({ text: 'COMMIT' })]);
    if (committed.status === 'rejected') {
      // An error with an SQLSTATE of its own is the answer "no"; a connection that went away is no answer.
      if (committed.reason instanceof DatabaseUnavailable) throw new CommitUnknown(committed.reason);
      throw answered.status === 'rejected' ? answered.reason : committed.reason;
    }
    const { command } = committed.value;
    // A statement that did not fail in the database, or in another session of a pooler, has not kept it from happening.
    if (command === 'COMMIT' && answered.status === 'rejected') {
      throw new Error('a transaction was committed without a statement that had failed', { cause: answered.reason });
    }
    if (answered.status === 'rejected') throw answered.reason;
    // So it is answered where a statement had failed and nobody knew.
    if (command !== 'COMMIT') throw new Error(`COMMIT was answered by ${command}`);
  }

  async rollback(): Promise<void> {
    this.#ended = true;
    try {
      await this.session.send({ text: 'ROLLBACK' });
    } catch (error) {
      // The connection is gone, and with it the transaction: that is a rollback too. The first error is the one to tell.
      if (!isUnreachable(error)) throw error;
    }
  }

  /** Nobody may be waiting for it yet. */
  #keep<T>(answer: Promise<T>): Promise<T> {
    answer.catch(() => undefined);
    this.#sent.push(answer);
    return answer;
  }

  async #answerTo<T>({ queries, answer }: Statement<T>): Promise<T> {
    // Nearly every statement is one query.
    if (queries.length === 1) return answer([await this.#resultOf(queries[0]!)]);
    return answer(await Promise.all(queries.map((query) => this.#resultOf(query))));
  }

  async #resultOf(query: Query): Promise<Result> {
    try {
      const result = await this.session.send(query);
      const passed = failpointBehind(this.name, query.text);
      if (passed !== undefined) await passed;
      return result;
    } catch (error) {
      // What follows a statement that has failed fails as well, and says less.
      this.#failure ??= { error };
      throw this.#failure.error;
    }
  }
}

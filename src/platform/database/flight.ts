import { failpointBehind } from '../failpoints.js';
import type { Param, Result } from './queryable.js';
import type { Session } from './session.js';

/** The statements of one transaction, some of which are under way at once. */
export class Flight {
  readonly #unawaited: Promise<unknown>[] = [];
  #failure: { error: unknown } | undefined;
  #ended = false;

  constructor(
    private readonly name: string,
    private readonly session: Session,
  ) {}

  /** Sends a statement and gives its answer. */
  async query<Row>(sql: string, params?: Param[]): Promise<Result<Row>> {
    // What others of the same flight have failed or decided: nothing may follow it, least of all outside of it.
    if (this.#ended) throw new Error(`transaction ${this.name} has ended`);
    try {
      const result = await this.session.send<Row>(sql, params);
      await failpointBehind(this.name, sql);
      return result;
    } catch (error) {
      // What follows a statement that has failed fails as well, and says less.
      this.#failure ??= { error };
      throw this.#failure.error;
    }
  }

  /** Sends a statement whose answer `landed` waits for. */
  send(sql: string, params?: Param[]): void {
    const sent = this.query(sql, params);
    sent.catch(() => undefined);
    this.#unawaited.push(sent);
  }

  /** Returns when everything that was sent is answered; throws where one of it has failed. */
  async landed(): Promise<void> {
    await Promise.all(this.#unawaited);
  }

  /** Nothing can be sent any more. */
  end(): void {
    this.#ended = true;
  }
}

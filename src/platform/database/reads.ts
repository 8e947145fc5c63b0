import { SessionSpoiled } from '../sessions/faults.js';
import type { Session } from '../sessions/session.js';
import type { Read } from './statement.js';

/** A connection for the reads of one turn, given back when the last of them is answered. */
interface Shared {
  opening: Promise<Session>;
  waiting: number;
}

/**
 * Reads that stand alone. Those that begin in one turn of the loop are sent together over one connection: each is still a
 * statement of its own, but a connection for each would be as many calls to the system, each of which wakes another
 * process, and that is most of what a small read costs.
 */
export class Reads {
  #now: Shared | undefined;

  constructor(
    private readonly open: () => Promise<Session>,
    private readonly onSpoiled: (fault: SessionSpoiled) => void,
  ) {}

  /** Where a session of the pool turns out to be bad, another is asked, until a new one is bad too. */
  async ask<T>(statement: Read<T>): Promise<T> {
    for (;;) {
      try {
        return await this.#once(statement);
      } catch (error) {
        if (!(error instanceof SessionSpoiled)) throw error;
        this.onSpoiled(error);
        if (error.fresh) throw error;
      }
    }
  }

  async #once<T>({ queries, answer }: Read<T>): Promise<T> {
    const shared = (this.#now ??= this.#begin());
    shared.waiting += 1;
    try {
      const session = await shared.opening;
      return answer([await session.send(queries[0]!)]);
    } finally {
      shared.waiting -= 1;
      if (shared.waiting === 0) await this.#end(shared);
    }
  }

  #begin(): Shared {
    const shared = { opening: this.open(), waiting: 0 };
    // The queue of the next tick is empty before the loop turns, so nothing of another turn joins.
    process.nextTick(() => this.#leave(shared));
    return shared;
  }

  #leave(shared: Shared): void {
    if (this.#now === shared) this.#now = undefined;
  }

  async #end(shared: Shared): Promise<void> {
    this.#leave(shared);
    // Each read has already been rejected with the reason why none could be opened.
    const session = await shared.opening.catch(() => undefined);
    await session?.close();
  }
}

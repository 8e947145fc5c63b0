interface Waiting {
  begin: () => void;
  giveUp: (why: Error) => void;
}

/** So many of one caller wait already. */
export class TooManyWaiting extends Error {}

/**
 * Lets a few callers at a time do one thing each. Who has more to do waits behind the others: the callers take turns, however much
 * one of them sends.
 */
export class Turns {
  readonly #atOnce: number;
  readonly #mostWaiting: number;
  readonly #busy = new Set<string>();
  /** In the order in which the callers are next. */
  readonly #waiting = new Map<string, Waiting[]>();

  constructor({ atOnce, mostWaiting }: { atOnce: number; mostWaiting: number }) {
    this.#atOnce = atOnce;
    this.#mostWaiting = mostWaiting;
  }

  /** Does it when its turn has come. */
  async take<T>(caller: string, act: () => Promise<T>): Promise<T> {
    await this.#turn(caller);
    try {
      return await act();
    } finally {
      this.#busy.delete(caller);
      this.#next();
    }
  }

  /** Nobody waits any longer. */
  giveUp(why: Error): void {
    const all = [...this.#waiting.values()].flat();
    this.#waiting.clear();
    for (const { giveUp } of all) giveUp(why);
  }

  #turn(caller: string): Promise<void> {
    const before = this.#waiting.get(caller) ?? [];
    if (before.length >= this.#mostWaiting) throw new TooManyWaiting();
    return new Promise((begin, giveUp) => {
      this.#waiting.set(caller, [...before, { begin, giveUp }]);
      this.#next();
    });
  }

  #next(): void {
    for (const [caller, [first, ...rest]] of this.#waiting) {
      if (this.#busy.size >= this.#atOnce) return;
      if (this.#busy.has(caller)) continue;
      this.#busy.add(caller);
      // Taken out and put back, it is the last of the map.
      this.#waiting.delete(caller);
      if (rest.length > 0) this.#waiting.set(caller, rest);
      first!.begin();
    }
  }
}

import { TooLate, within } from '../platform/within.js';

/** How often it is asked, and how long somebody waits for it. */
export interface Pace {
  everySeconds: number;
  waitSeconds: number;
}

/*
 * A look that costs something, shared by whoever asks: it begins at most once in so many seconds, however many ask, and
 * never while the last one is still under way. What it found is given until the next; where it failed, or takes longer than
 * somebody waits, there is nothing to tell until then, and nobody asks again meanwhile.
 */
export class AtMostEvery<T> {
  #begun = -Infinity;
  #underWay = false;
  #found: Promise<T | undefined> = Promise.resolve(undefined);

  constructor(
    private readonly look: () => Promise<T>,
    private readonly pace: Pace,
    private readonly now: () => number = () => performance.now() / 1000,
  ) {}

  /** What the last look found; undefined where it found nothing. Never throws. */
  latest(): Promise<T | undefined> {
    if (!this.#underWay && this.now() - this.#begun >= this.pace.everySeconds) this.#begin();
    return this.#found;
  }

  #begin(): void {
    this.#begun = this.now();
    this.#underWay = true;
    const looked = Promise.resolve()
      .then(this.look)
      .finally(() => (this.#underWay = false));
    // Who comes while it is late is not made to wait for it as well.
    this.#found = within(this.pace.waitSeconds, looked).catch((error: unknown) => {
      if (error instanceof TooLate) looked.catch(() => undefined);
      return undefined;
    });
  }
}

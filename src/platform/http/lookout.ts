import { setTimeout as sleep } from 'node:timers/promises';
import { Logger } from '@nestjs/common';
import type { Hints } from '../database/hints.js';
import type { Hint } from '../database/queryable.js';

const LATER_MS = 500;

/** When to look. */
export interface Occasions {
  hints: Hints;
  on: Hint[];
  everySeconds: number;
}

/**
 * Looks for what concerns those who wait: at a hint (from this process or another), at a reconnect of the listening
 * connection, once every period, and a moment after a look that failed. One look at a time, which serves every occasion
 * from before it began.
 */
export class Lookout {
  readonly #logger = new Logger('lookout');
  #looking = false;
  #lookAgain = false;
  #later: NodeJS.Timeout | undefined;
  #close: () => void = () => undefined;

  /** `what` names in the log what is looked for; so long is paused after a look. */
  constructor(
    private readonly what: string,
    private readonly look: () => Promise<void>,
    private readonly pauseMs = 0,
  ) {}

  open({ hints, on, everySeconds }: Occasions): void {
    const timer = setInterval(this.now, everySeconds * 1000).unref();
    const deaf = on.map((hint) => hints.on(hint, this.now));
    this.#close = () => {
      clearInterval(timer);
      clearTimeout(this.#later);
      deaf.forEach((stop) => stop());
    };
  }

  close(): void {
    this.#close();
  }

  readonly now = (): void => void this.#run();

  /** A statement can fail though the listening connection holds, whose reconnect would make everybody look. */
  later(): void {
    this.#later ??= setTimeout(() => {
      this.#later = undefined;
      this.now();
    }, LATER_MS).unref();
  }

  async #run(): Promise<void> {
    this.#lookAgain = true;
    if (this.#looking) return;
    this.#looking = true;
    while (this.#lookAgain) {
      this.#lookAgain = false;
      try {
        await this.look();
      } catch (error) {
        this.#logger.warn({ msg: `could not look for ${this.what}`, err: error });
        this.later();
      }
      if (this.pauseMs > 0) await sleep(this.pauseMs, undefined, { ref: false });
    }
    this.#looking = false;
  }
}

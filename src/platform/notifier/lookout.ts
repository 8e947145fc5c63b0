import { Logger } from '@nestjs/common';
import type { Topic } from '../database/queryable.js';
import { SayOnce } from '../logging/say-once.js';
import { PeriodicWorker } from '../periodic-worker.js';
import { causeOf } from '../sessions/faults.js';
import type { Notifier } from './notifier.js';

const AFTER_FAILURE_SECONDS = 0.5;

/** When to look. */
export interface Occasions {
  notifier: Notifier;
  on: Topic[];
  everySeconds: number;
}

/**
 * Looks whether there is something to do: when notified (by this process or another), when the listening connection was
 * made again, once every period, and a moment after a look that failed. One look at a time, which serves every occasion
 * from before it began.
 */
export class Lookout {
  readonly #logger = new Logger('lookout');
  readonly #said = new SayOnce();
  readonly #worker: PeriodicWorker;
  #unsubscribe: () => void = () => undefined;

  /** `what` names in the log what is looked for. */
  constructor(what: string, look: () => Promise<void>) {
    const warn = (error: unknown): void => {
      // It is repeated twice a second, and says the same each time.
      this.#said.say(String(causeOf(error)), (unsaid) =>
        this.#logger.warn({
          msg: 'a look for waiting calls failed; it is repeated',
          what,
          err: error,
          suppressed: unsaid,
        }),
      );
    };
    this.#worker = new PeriodicWorker(look, warn);
  }

  open({ notifier, on, everySeconds }: Occasions): void {
    const ends = on.map((topic) => notifier.on(topic, this.now));
    this.#unsubscribe = () => ends.forEach((end) => end());
    this.#worker.start({ everySeconds, first: 'after a period', afterFailureSeconds: AFTER_FAILURE_SECONDS });
  }

  /** Looks no more; resolves when the look that is under way has ended. */
  close(): Promise<void> {
    this.#unsubscribe();
    return this.#worker.stop();
  }

  readonly now = (): void => this.#worker.now();

  /** A statement can fail though the listening connection holds, whose reconnect would make everybody look. */
  later(): void {
    this.#worker.soon(AFTER_FAILURE_SECONDS);
  }
}

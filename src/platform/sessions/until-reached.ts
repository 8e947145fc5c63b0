import { setTimeout as sleep } from 'node:timers/promises';
import { Logger } from '@nestjs/common';
import { causeOf, DatabaseUnfit, isUnreachable } from './faults.js';
import { SayOnce } from '../logging/say-once.js';
import { unfitOr } from './unfit.js';

const RETRY_MS = 250;

/** Does the steps of a start, each again until the database answers. */
export class UntilReached {
  readonly #logger = new Logger('start');
  readonly #said = new SayOnce();
  #away = false;

  constructor(private readonly stopping: AbortSignal) {}

  /** Throws any error but that the database is away; as a sentence where a person can fix it, since waiting would not help. */
  async do(when: 'connecting' | 'later', step: () => Promise<void>): Promise<void> {
    for (;;) {
      try {
        await step();
        if (this.#away) this.#logger.log({ msg: 'the database answers' });
        this.#away = false;
        return;
      } catch (error) {
        const judged = unfitOr(error, when);
        if (judged instanceof DatabaseUnfit || !isUnreachable(error) || this.stopping.aborted) throw judged;
        this.#away = true;
        const cause = causeOf(error);
        this.#said.say(String(cause), () => this.#logger.warn({ msg: 'the database does not answer yet', cause }));
      }
      await sleep(RETRY_MS, undefined, { signal: this.stopping });
    }
  }
}

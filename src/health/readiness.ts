import { Logger } from '@nestjs/common';
import type { Queryable } from '../platform/database/queryable.js';
import { SayOnce } from '../platform/logging/say-once.js';
import { causeOf, SessionSpoiled, TakesNoWrites } from '../platform/sessions/faults.js';
import { within } from '../platform/within.js';
import { ping } from './health.sql.js';

const DATABASE_SECONDS = 2;

/**
 * Whether the database is of help. Anybody may ask, and as often as they like: who asks while it is being asked is told the
 * same, so that no queue of such questions stands before the requests of a database that comes back.
 */
export class Readiness {
  readonly #logger = new Logger('health');
  readonly #said = new SayOnce();
  #asking: Promise<string | undefined> | undefined;

  constructor(private readonly database: Queryable) {}

  /** Undefined where the database answers and takes writes. */
  trouble(): Promise<string | undefined> {
    return (this.#asking ??= this.#ask().finally(() => (this.#asking = undefined)));
  }

  async #ask(): Promise<string | undefined> {
    try {
      await within(DATABASE_SECONDS, this.database.ask(ping()));
      this.#said.forget();
      return undefined;
    } catch (error) {
      const cause = causeOf(error);
      this.#said.say(String(cause), () =>
        this.#logger.warn({ msg: 'not ready: the database does not answer or takes no writes', cause }),
      );
      return error instanceof TakesNoWrites || error instanceof SessionSpoiled ? 'takes no writes' : 'does not answer';
    }
  }
}

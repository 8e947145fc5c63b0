import type pg from 'pg';
import { SessionClient, streamOf } from './session-client.js';

/**
 * A connection of the pool. The statement that meets a broken one reports it; where nobody uses it, not even its end
 * is an error.
 */
export class PooledClient extends SessionClient {
  #gathering = false;
  /** Nobody has used it yet: what is wrong with it was not left by an earlier time. */
  fresh = true;

  constructor(config: pg.ClientConfig) {
    super({ ...config, pipeline: true });
    this.on('error', () => undefined);
  }

  /** Lets what is sent in this turn go out in one piece: what a write costs is the call to the system, not its bytes. */
  gather(): void {
    if (this.#gathering) return;
    this.#gathering = true;
    const stream = streamOf(this);
    stream.cork();
    process.nextTick(() => {
      this.#gathering = false;
      stream.uncork();
    });
  }
}

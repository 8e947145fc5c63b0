import type { Socket } from 'node:net';
import pg from 'pg';

/**
 * A connection of the pool. One that breaks is told by the statement that meets it; where nobody uses it, not even its end
 * is an error.
 */
export class PooledClient extends pg.Client {
  #gathering = false;

  constructor(config: pg.ClientConfig) {
    super({ ...config, pipeline: true });
    this.on('error', () => undefined);
  }

  /** Lets what is sent in this turn go out in one piece: what a write costs is the call to the system, not its bytes. */
  gather(): void {
    if (this.#gathering) return;
    this.#gathering = true;
    this.#stream.cork();
    process.nextTick(() => {
      this.#gathering = false;
      this.#stream.uncork();
    });
  }

  /** Breaks the connection off without a word to the other end: a farewell would wait for the answers that do not come. */
  giveUp(): void {
    this.#stream.destroy();
  }

  get #stream(): Socket {
    return (this as unknown as { connection: { stream: Socket } }).connection.stream;
  }
}

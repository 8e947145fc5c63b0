import pg from 'pg';

/**
 * A connection of the pool. One that breaks is told by the statement that meets it; where nobody uses it, not even its end
 * is an error.
 */
export class PooledClient extends pg.Client {
  constructor(config: pg.ClientConfig) {
    super({ ...config, pipeline: true });
    this.on('error', () => undefined);
  }

  /** Breaks the connection off without a word to the other end: a farewell would wait for the answers that do not come. */
  giveUp(): void {
    (this as unknown as { connection: { stream: { destroy(): void } } }).connection.stream.destroy();
  }
}

import pg from 'pg';
import { judgeSession } from './judge-session.js';
import { PooledClient } from './pooled-client.js';

/** The way to the database is full for a while: so long until more connections are tried for again. */
const FULL_MS = 1000;

export interface SessionPoolOptions extends pg.PoolConfig {
  /** The longest life of a connection; each has between three quarters of it and all. */
  lifeSeconds: number;
  /** How long a new connection may take to say what it is. */
  answerSeconds: number;
}

type Taken = (error: Error | undefined, client: pg.PoolClient | undefined, done: (release?: unknown) => void) => void;

/**
 * The pool of connections. Each is judged when it is new, and closed when it is old: when it is given back, or at once where
 * nobody uses it. Where there are connections that work and no more to be had, whoever wants one waits for one of those.
 */
export class SessionPool extends pg.Pool {
  readonly #most: number;
  /** Connections that were made and judged, and have not ended. */
  readonly #made = new Set<pg.ClientBase>();
  #full: NodeJS.Timeout | undefined;

  constructor({ lifeSeconds, answerSeconds, ...options }: SessionPoolOptions) {
    const judge = (client: pg.ClientBase): unknown => judgeSession(client, answerSeconds);
    // By its types a client is made of nothing; pg-pool gives it the configuration.
    super({ ...options, Client: PooledClient as unknown as new () => pg.ClientBase, onConnect: judge });
    this.#most = this.options.max;
    // Read for each new connection: they do not all end at once.
    Object.defineProperty(this.options, 'maxLifetimeSeconds', {
      get: () => lifeSeconds * (0.75 + Math.random() / 4),
    });
    this.on('connect', (client) => {
      this.#made.add(client);
      client.once('end', () => this.#made.delete(client));
    });
    // The end of one that is thrown away may come late, or never where the connection is half open.
    this.on('release', (error: unknown, client) => void (error && this.#made.delete(client)));
    this.on('error', (_, client) => void this.#made.delete(client));
  }

  override connect(): Promise<pg.PoolClient>;
  override connect(taken: Taken): void;
  override connect(taken?: Taken): Promise<pg.PoolClient> | void {
    if (taken !== undefined) return this.#take(taken, Date.now() + (this.options.connectionTimeoutMillis ?? 0));
    return new Promise((resolve, reject) => {
      this.connect((error, client) => (error === undefined ? resolve(client!) : reject(error)));
    });
  }

  #take(taken: Taken, until: number): void {
    super.connect((error, client, done) => {
      if (error === undefined || this.ending || this.#made.size === 0 || Date.now() >= until) {
        return taken(error, client, done);
      }
      this.#makeDo();
      this.#take(taken, until);
    });
  }

  /** With what there is, for a moment: a full pool lets those who come wait for what is given back. */
  #makeDo(): void {
    this.options.max = this.#made.size;
    this.#full ??= setTimeout(() => {
      this.#full = undefined;
      this.options.max = this.#most;
    }, FULL_MS).unref();
  }
}

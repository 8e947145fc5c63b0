import { Injectable, Logger, type OnModuleDestroy, type OnModuleInit } from '@nestjs/common';
import { Config } from '../platform/config/config.js';
import { Database } from '../platform/database/database.js';
import { Hints } from '../platform/database/hints.js';
import { Lifecycle } from '../platform/lifecycle.js';
import { ParkedClaim } from './parked-claim.js';
import { readNodesToAsk } from './ready-steps.sql.js';

/*
 * Claims that wait for a step. A claim registers before it looks, so that nothing which becomes ready in between is
 * missed; it is told to look again by a hint (from this process or another), by a reconnect of the listening connection,
 * and once every renew period. One query finds, for all parked nodes of the process, who should ask; nothing is decided
 * here, and no database connection is held while a claim waits.
 */
@Injectable()
export class ParkedClaims implements OnModuleInit, OnModuleDestroy {
  readonly #logger = new Logger('execution');
  readonly #parked = new Set<ParkedClaim>();
  #looking = false;
  #lookAgain = false;
  #stopListening: () => void = () => undefined;
  #timer: NodeJS.Timeout | undefined;

  constructor(
    private readonly database: Database,
    private readonly hints: Hints,
    private readonly config: Config,
    private readonly lifecycle: Lifecycle,
  ) {}

  onModuleInit(): void {
    this.lifecycle.stopping.addEventListener('abort', () => this.#parked.forEach((parked) => parked.end()));
    this.#stopListening = this.hints.on('steps', () => void this.#look());
    this.#timer = setInterval(() => void this.#look(), this.config.renewSeconds * 1000).unref();
  }

  onModuleDestroy(): void {
    this.#stopListening();
    clearInterval(this.#timer);
  }

  /** How many claims wait now. */
  get size(): number {
    return this.#parked.size;
  }

  /**
   * Tries until it gives something, the time is over, the caller is gone or the process stops; undefined then.
   * An error of `attempt` is the caller's.
   */
  async wait<T>(
    claimant: { node_id: string; instance: string; gone: AbortSignal },
    seconds: number,
    attempt: () => Promise<T | undefined>,
  ): Promise<T | undefined> {
    const parked = new ParkedClaim(claimant.node_id, claimant.instance);
    const timer = setTimeout(parked.end, seconds * 1000);
    claimant.gone.addEventListener('abort', parked.end);
    this.#parked.add(parked);
    // Both signals may have been given before anybody listened.
    if (claimant.gone.aborted || this.lifecycle.stopping.aborted) parked.end();
    try {
      for (;;) {
        parked.beginLook();
        const found = await attempt();
        if (found !== undefined || parked.over) return found;
        await parked.noticed();
        if (parked.over) return undefined;
      }
    } finally {
      this.#parked.delete(parked);
      claimant.gone.removeEventListener('abort', parked.end);
      clearTimeout(timer);
    }
  }

  async #look(): Promise<void> {
    this.#lookAgain = true;
    if (this.#looking) return;
    this.#looking = true;
    try {
      while (this.#lookAgain && this.#parked.size > 0) {
        this.#lookAgain = false;
        const nodes = await readNodesToAsk(this.database, [...this.#parked]);
        for (const parked of this.#parked) if (nodes.has(parked.node_id)) parked.ring();
      }
    } catch (error) {
      // The reconnect of the listening connection, or the timer, looks again.
      this.#logger.warn({ msg: 'could not look for steps that became ready', err: error });
    } finally {
      this.#looking = false;
    }
  }
}

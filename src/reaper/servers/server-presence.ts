import { randomUUID } from 'node:crypto';
import { Injectable, Logger } from '@nestjs/common';
import { Config } from '../../platform/config/config.js';
import { Database } from '../../platform/database/database.js';
import { QueueService } from '../../queue/queue.service.js';
import { CompareSettings } from './compare-settings.js';
import { stopServer } from './servers.sql.js';
import { TouchServer } from './touch-server.js';

/** Where the database is away: soon again, so that an outage is known before much is asked of the server. */
const RETRY_SECONDS = 1;

/*
 * The row of this process in `servers`: written before the start-up wake, kept fresh every third of a renew period by a
 * timer of its own (a sweep or a reaper pass may take longer than that), and marked as stopped at the end, unless a sweep
 * is still owed or something was cut short that may have to wake: then another server is to take this one for lost, and
 * to make up for it.
 */
@Injectable()
export class ServerPresence {
  readonly #logger = new Logger('servers');
  readonly serverId = randomUUID();
  #timer: NodeJS.Timeout | undefined;
  #touching: Promise<void> = Promise.resolve();
  #state: 'away' | 'there' | 'left' = 'away';

  constructor(
    private readonly server: TouchServer,
    private readonly database: Database,
    private readonly config: Config,
    private readonly queue: QueueService,
    private readonly settings: CompareSettings,
  ) {}

  /** Looks whether there was an outage and who else is there, writes the row and goes on to. Throws where the database is away. */
  async arrive(): Promise<void> {
    await this.touch();
    await this.settings.compare(this.serverId);
    this.#state = 'there';
    this.#again(this.config.renewSeconds / 3);
  }

  /** Looks whether there was an outage, and says that this server is there. */
  touch(): Promise<void> {
    return this.server.touch(this.serverId);
  }

  /** Ends the timer and marks the row. A row that could not be marked makes others look at the queue, which does no harm. */
  async leave(): Promise<void> {
    if (this.#state !== 'there') return;
    this.#state = 'left';
    clearTimeout(this.#timer);
    await this.#touching;
    if (!this.queue.settled) return;
    try {
      await this.database.transaction('leave', (tx) => stopServer(tx, this.serverId));
    } catch (error) {
      this.#logger.warn({ msg: 'the row of this server was not marked as stopped', err: error });
    }
  }

  #again(seconds: number): void {
    this.#timer = setTimeout(() => void (this.#touching = this.#turn()), seconds * 1000).unref();
  }

  async #turn(): Promise<void> {
    let pause = this.config.renewSeconds / 3;
    try {
      await this.touch();
    } catch (error) {
      pause = Math.min(pause, RETRY_SECONDS);
      this.#logger.warn({ msg: 'this server could not say that it is there', err: error });
    }
    if (this.#state === 'there') this.#again(pause);
  }
}

import { randomUUID } from 'node:crypto';
import { Injectable, Logger } from '@nestjs/common';
import { Config } from '../../platform/config/config.js';
import { Database } from '../../platform/database/database.js';
import { PeriodicWorker } from '../../platform/periodic-worker.js';
import { ReleaseEdge } from '../../queue/release-edge.js';
import { CompareSettings } from './compare-settings.js';
import { stopServer } from './servers.sql.js';
import { TouchServer } from './touch-server.js';

/** Where the database is away: soon again, so that an outage is known before much is asked of the server. */
const AFTER_FAILURE_SECONDS = 1;

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
  readonly #worker = new PeriodicWorker(
    () => this.touch(),
    (error) => this.#logger.warn({ msg: 'this server could not refresh its row; it tries again', err: error }),
  );
  #state: 'away' | 'there' | 'left' = 'away';

  constructor(
    private readonly server: TouchServer,
    private readonly database: Database,
    private readonly config: Config,
    private readonly edge: ReleaseEdge,
    private readonly settings: CompareSettings,
  ) {}

  /** Looks whether there was an outage, writes the row, compares settings, and keeps the row fresh. Throws where the database is away. */
  async arrive(): Promise<void> {
    await this.touch();
    await this.settings.compare(this.serverId);
    this.#state = 'there';
    const everySeconds = this.config.renewSeconds / 3;
    this.#worker.start({ everySeconds, first: 'after a period', afterFailureSeconds: AFTER_FAILURE_SECONDS });
  }

  /** Looks whether there was an outage, and says that this server is there. */
  touch(): Promise<void> {
    return this.server.touch(this.serverId);
  }

  /** Stops and marks the row. A row that could not be marked makes others look at the queue, which does no harm. */
  async leave(): Promise<void> {
    if (this.#state !== 'there') return;
    this.#state = 'left';
    await this.#worker.stop();
    if (!this.edge.settled) return;
    try {
      await this.database.transaction('leave', (tx) => tx.ask(stopServer(this.serverId)));
    } catch (error) {
      this.#logger.warn({
        msg: 'the row of this server was not marked as stopped; another server will sweep in its place',
        err: error,
      });
    }
  }
}

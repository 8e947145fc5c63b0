import { EventEmitter } from 'node:events';
import { setImmediate as endOfTurn, setTimeout as sleep } from 'node:timers/promises';
import { Injectable, Logger } from '@nestjs/common';
import type pg from 'pg';
import { within } from '../within.js';
import { Config } from '../config/config.js';
import { causeOf } from './faults.js';
import { judgeSession } from './judge-session.js';
import type { Hint } from './queryable.js';
import { SessionClient } from './session-client.js';
import { Told } from './told.js';

/*
 * Hints: "there is something to look at", without data, so that a lost or doubled one does no harm.
 * A hint reaches this process at once and the others by NOTIFY, which is sent after the commit (inside a transaction it
 * would serialize the commits) from the listening connection, several in one statement.
 * When that connection is (re)made everybody looks, because notices were lost meanwhile. Nothing may be said on it for
 * hours, so it is asked now and then what it is: a way that takes bytes and brings none back ends no connection, and one that
 * leads to a standby, or to a server that takes no writes any more, may hear nothing of what others do. After its longest
 * life it is made anew, like every other.
 * It decides nothing: whoever is told looks at the database, and looks by itself once every renew period.
 */
const HINTS: readonly Hint[] = ['steps', 'runs', 'asks', 'logs'];
const channelOf = (hint: Hint): string => `mediator_${hint}`;
const CLOSE_SECONDS = 0.5;
/** Between two notices to the others, which so wait for one at most so long; the first after a while goes at once. */
const PAUSE_MS = 5;
const RECONNECT_MS = [50, 100, 250, 500, 1000];

@Injectable()
export class Hints {
  readonly #logger = new Logger('hints');
  readonly #local = new EventEmitter().setMaxListeners(0);
  readonly #unsent = new Set<Hint>();
  readonly #told = new Told();
  #client: pg.Client | undefined;
  #sending = false;
  #stopped = true;
  #retry: NodeJS.Timeout | undefined;

  constructor(private readonly config: Config) {}

  /** Calls back at each hint of this kind, and after each reconnect. Gives the way to stop it. */
  on(hint: Hint, look: () => void): () => void {
    this.#local.on(hint, look);
    return () => this.#local.off(hint, look);
  }

  /** Tells this process now and the others soon. Never throws and waits for nothing. */
  ring(hint: Hint): void {
    this.#local.emit(hint);
    this.#unsent.add(hint);
    void this.#send();
  }

  /** Begins to listen; a database that is away is tried again until `stop`. */
  async start(url: string): Promise<void> {
    this.#stopped = false;
    await this.#connect(url, 0);
  }

  async stop(): Promise<void> {
    this.#stopped = true;
    clearTimeout(this.#retry);
    const client = this.#client;
    this.#client = undefined;
    if (client === undefined) return;
    // Answered before the end, which breaks off what is under way, and with it what stands behind that.
    await within(CLOSE_SECONDS, this.#notify(client, [...this.#unsent])).catch(() => undefined);
    // The other end may not answer to this either.
    await within(CLOSE_SECONDS, client.end()).catch(() => undefined);
  }

  async #connect(url: string, failures: number): Promise<void> {
    if (this.#stopped) return;
    const client = new SessionClient({
      connectionString: url,
      application_name: 'mediator-listen',
      connectionTimeoutMillis: 5000,
      query_timeout: this.config.listenCheckSeconds * 1000,
      keepAlive: true,
    });
    const lost = (): void => {
      if (this.#client === client) this.#client = undefined;
      client.removeAllListeners('end').removeAllListeners('notification');
      client.end().catch(() => undefined);
      if (this.#stopped) return;
      const pause = RECONNECT_MS[Math.min(failures, RECONNECT_MS.length - 1)];
      this.#retry = setTimeout(() => void this.#connect(url, failures + 1), pause).unref();
    };
    client.on('error', (error) => this.#warn(`the listening connection broke: ${error.message}`));
    try {
      await client.connect();
      await judgeSession(client, this.config.listenCheckSeconds);
      const own = (client as unknown as { processID: number }).processID;
      client.on('notification', ({ channel, processId }) => {
        const hint = HINTS.find((known) => channelOf(known) === channel);
        if (hint !== undefined && processId !== own) this.#local.emit(hint);
      });
      await client.query(HINTS.map((hint) => `LISTEN ${channelOf(hint)}`).join('; '));
    } catch (error) {
      this.#warn(`cannot listen: ${causeOf(error)}`);
      lost();
      return;
    }
    failures = 0;
    this.#told.forget();
    const check = setInterval(() => void this.#check(client), this.config.listenCheckSeconds * 1000).unref();
    const life = setTimeout(() => this.#giveUp(client), this.config.connectionLifeSeconds * 1000).unref();
    client.once('end', () => clearInterval(check)).once('end', () => clearTimeout(life));
    client.once('end', lost);
    this.#client = client;
    if (this.#stopped) return void this.stop();
    for (const hint of HINTS) this.#local.emit(hint);
    void this.#send();
  }

  async #notify(client: pg.Client, hints: Hint[]): Promise<void> {
    const statement = '/* hints.send */ SELECT pg_notify(channel, $2) FROM unnest($1::text[]) channel';
    try {
      await client.query(statement, [hints.map(channelOf), '']);
    } catch (error) {
      // Sent by the next connection.
      for (const hint of hints) this.#unsent.add(hint);
      this.#giveUp(client);
      this.#warn(`a hint was not sent yet: ${causeOf(error)}`);
    }
  }

  async #check(client: pg.Client): Promise<void> {
    // A hint that is being sent asks as well.
    if (this.#sending) return;
    try {
      await judgeSession(client, this.config.listenCheckSeconds);
    } catch (error) {
      this.#giveUp(client);
      this.#warn(`the listening connection is of no use: ${causeOf(error)}`);
    }
  }

  #warn(line: string): void {
    this.#told.tell(line, () => this.#logger.warn(line));
  }

  /** Its end makes the next one. */
  #giveUp(client: pg.Client): void {
    if (this.#client === client) this.#client = undefined;
    client.end().catch(() => undefined);
  }

  async #send(): Promise<void> {
    if (this.#sending) return;
    this.#sending = true;
    try {
      // Whatever was rung within this turn of the loop goes in one statement, after what this process does by itself now.
      await endOfTurn();
      while (this.#client !== undefined && this.#unsent.size > 0) {
        const sent = [...this.#unsent];
        this.#unsent.clear();
        await this.#notify(this.#client, sent);
        // Under load nearly every commit would have a statement of its own.
        await sleep(PAUSE_MS, undefined, { ref: false });
      }
    } finally {
      this.#sending = false;
    }
  }
}

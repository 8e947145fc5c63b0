import { EventEmitter } from 'node:events';
import { setImmediate as endOfTurn, setTimeout as sleep } from 'node:timers/promises';
import { Injectable, Logger } from '@nestjs/common';
import type pg from 'pg';
import { Config } from '../config/config.js';
import { causeOf } from '../sessions/faults.js';
import { judgeSession } from '../sessions/judge-session.js';
import type { Topic } from '../database/queryable.js';
import { SessionClient } from '../sessions/session-client.js';
import { SayOnce } from '../logging/say-once.js';
import { Latch } from '../latch.js';
import { PeriodicWorker } from '../periodic-worker.js';
import { within } from '../within.js';

/*
 * A notification says "there is something to look at" and carries no data, so that a lost or a doubled one does no harm.
 * It reaches this process at once and the others by NOTIFY, which is sent after the commit (inside a transaction it would
 * serialize the commits) over the listening connection, several topics in one statement.
 * When that connection is made again every subscriber looks, because notifications were lost meanwhile. It may carry
 * nothing for hours, so its session is judged now and then: a network that swallows packets ends no connection, and a
 * session of a standby, or of a server that takes no writes any more, may hear nothing of what others do. At the end of its
 * longest life it is replaced, like every other.
 * It decides nothing: every subscriber looks at the database, and does so once every renew period by itself.
 */
const TOPICS: readonly Topic[] = ['steps', 'runs', 'asks', 'logs'];
const channelOf = (topic: Topic): string => `mediator_${topic}`;
const CLOSE_SECONDS = 0.5;
/** Between two statements, so the longest that one waits for another; the first after a while is sent at once. */
const PAUSE_MS = 5;
const RECONNECT_MS = [50, 100, 250, 500, 1000];

interface Fault {
  msg: string;
  cause: string | undefined;
}

@Injectable()
export class Notifier {
  readonly #logger = new Logger('notifier');
  readonly #local = new EventEmitter().setMaxListeners(0);
  readonly #unsent = new Set<Topic>();
  readonly #sends = Latch.shared<void, void>(() => this.#sendUnsent());
  readonly #said = new SayOnce();
  #client: pg.Client | undefined;
  #stopped = true;
  #retry: NodeJS.Timeout | undefined;

  constructor(private readonly config: Config) {}

  /** Calls back at each notification of this topic, and after each reconnect. Gives the function that ends it. */
  on(topic: Topic, look: () => void): () => void {
    this.#local.on(topic, look);
    return () => this.#local.off(topic, look);
  }

  /** Notifies this process now and the others soon. Never throws and waits for nothing. */
  notify(topic: Topic): void {
    this.#local.emit(topic);
    this.#unsent.add(topic);
    void this.#sends.enter();
  }

  /** Begins to listen; where the database is away it tries again until `stop`. */
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
    await within(CLOSE_SECONDS, this.#send(client, [...this.#unsent])).catch(() => undefined);
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
    client.on('error', (error) => this.#warn({ msg: 'the listening connection broke', cause: causeOf(error) }));
    try {
      await client.connect();
      await judgeSession(client, this.config.listenCheckSeconds);
      // pg has it, and its types leave it out.
      const own = (client as unknown as { processID: number }).processID;
      client.on('notification', ({ channel, processId }) => {
        const topic = TOPICS.find((known) => channelOf(known) === channel);
        if (topic !== undefined && processId !== own) this.#local.emit(topic);
      });
      await client.query(TOPICS.map((topic) => `LISTEN ${channelOf(topic)}`).join('; '));
    } catch (error) {
      this.#warn({ msg: 'the server cannot listen for notifications', cause: causeOf(error) });
      lost();
      return;
    }
    failures = 0;
    this.#said.forget();
    this.#watch(client);
    client.once('end', lost);
    this.#client = client;
    if (this.#stopped) return void this.stop();
    for (const topic of TOPICS) this.#local.emit(topic);
    void this.#sends.enter();
  }

  /** Judges the session now and then, and ends it at the end of its life. */
  #watch(client: pg.Client): void {
    const { listenCheckSeconds, connectionLifeSeconds } = this.config;
    const check = new PeriodicWorker(
      () => judgeSession(client, listenCheckSeconds),
      (error) => {
        if (this.#giveUp(client)) this.#warn({ msg: 'the listening connection is unusable', cause: causeOf(error) });
      },
    );
    check.start({ everySeconds: listenCheckSeconds, first: 'after a period' });
    const life = setTimeout(() => this.#giveUp(client), connectionLifeSeconds * 1000).unref();
    client.once('end', () => void check.stop()).once('end', () => clearTimeout(life));
  }

  #warn(line: Fault): void {
    this.#said.say(`${line.msg}: ${line.cause}`, () => this.#logger.warn(line));
  }

  /** Its end makes the next one. False: somebody else has given it up already, and has said why. */
  #giveUp(client: pg.Client): boolean {
    if (this.#client !== client) return false;
    this.#client = undefined;
    client.end().catch(() => undefined);
    return true;
  }

  async #sendUnsent(): Promise<void> {
    // What is notified of within this turn of the loop goes in one statement, after what this process does by itself now.
    await endOfTurn();
    if (this.#client === undefined || this.#unsent.size === 0) return;
    const topics = [...this.#unsent];
    this.#unsent.clear();
    await this.#send(this.#client, topics);
    // Under load nearly every commit would have a statement of its own.
    await sleep(PAUSE_MS, undefined, { ref: false });
  }

  async #send(client: pg.Client, topics: Topic[]): Promise<void> {
    const statement = '/* notifier.send */ SELECT pg_notify(channel, $2) FROM unnest($1::text[]) channel';
    try {
      await client.query(statement, [topics.map(channelOf), '']);
    } catch (error) {
      // Sent by the next connection.
      for (const topic of topics) this.#unsent.add(topic);
      if (this.#giveUp(client)) this.#warn({ msg: 'a notification was not sent yet', cause: causeOf(error) });
    }
  }
}

import { Injectable, Logger, type OnModuleDestroy } from '@nestjs/common';
import { rawJson, toJson } from '../domain/json/raw-json.js';
import { Config } from '../platform/config/config.js';
import { Database } from '../platform/database/database.js';
import { Hints } from '../platform/database/hints.js';
import { Metrics } from '../platform/metrics/metrics.js';
import { deliver } from './deliver.js';
import type { Notice } from './notices.sql.js';
import { putBack, takeNotices } from './take-notices.js';

/*
 * Tells the webhook of every question that was raised. It looks for notices at each hint of questions, at start and every
 * renew period, takes no more of them than it has hands free, and the rest wait in the database: so its memory is bounded,
 * several processes send each notice once, and a notice exists only where the transaction that raised its question is
 * committed. What was not taken by the receiver when the process stops is put back for the next one (which may so tell it
 * twice); a process that is killed loses the few it had in hand. It delays no request, and its failures are only told.
 * Without a webhook it takes the notices away, so that they do not pile up.
 */
const HANDS = 4;

@Injectable()
export class AskNotices implements OnModuleDestroy {
  readonly #logger = new Logger('asks');
  readonly #stopping = new AbortController();
  readonly #sending = new Set<Promise<void>>();
  #looking: Promise<void> | undefined;
  #lookAgain = false;
  #timer: NodeJS.Timeout | undefined;
  #unhear: () => void = () => undefined;

  constructor(
    private readonly database: Database,
    private readonly config: Config,
    private readonly hints: Hints,
    private readonly metrics: Metrics,
  ) {}

  /** Looks, and goes on to. */
  start(): void {
    this.#unhear = this.hints.on('asks', () => this.#look());
    this.#timer = setInterval(() => this.#look(), this.config.renewSeconds * 1000).unref();
    this.#look();
  }

  /** Ends what is being sent at once, and puts it back. */
  async onModuleDestroy(): Promise<void> {
    this.#stopping.abort();
    this.#unhear();
    clearInterval(this.#timer);
    await this.#looking;
    await Promise.all(this.#sending);
  }

  #look(): void {
    this.#lookAgain = true;
    this.#looking ??= this.#lookOnce();
  }

  async #lookOnce(): Promise<void> {
    while (this.#lookAgain && !this.#stopping.signal.aborted) {
      this.#lookAgain = false;
      try {
        await this.#takeAll();
      } catch (error) {
        this.#logger.warn({ msg: 'the notices of questions were not looked at; the next look makes up', err: error });
      }
    }
    this.#looking = undefined;
  }

  async #takeAll(): Promise<void> {
    const url = this.config.askWebhookUrl;
    while (!this.#stopping.signal.aborted) {
      const most = HANDS - this.#sending.size;
      // With no hand free, the first that becomes so looks again.
      if (most <= 0) return;
      const notices = await takeNotices(this.database, url === undefined ? 'drop' : most);
      if (url === undefined || notices.length === 0) return;
      for (const notice of notices) this.#send(url, notice);
    }
  }

  #send(url: string, notice: Notice): void {
    const sending = this.#tell(url, notice)
      .catch((error: unknown) => this.#logger.error({ ...nameOf(notice), msg: 'a notice was lost', err: error }))
      .finally(() => {
        this.#sending.delete(sending);
        this.#look();
      });
    this.#sending.add(sending);
  }

  async #tell(url: string, notice: Notice): Promise<void> {
    const receiver = { url, secret: this.config.askWebhookSecret };
    const delivery = await deliver(
      receiver,
      toJson({ ...notice, schema: rawJson(notice.schema) }),
      this.#stopping.signal,
    );
    if (delivery.kind === 'stopped') return putBack(this.database, notice);
    this.metrics.askNotices.inc({ result: delivery.kind === 'sent' ? 'sent' : 'failed' });
    if (delivery.kind === 'sent') return;
    this.#logger.error({ ...nameOf(notice), msg: 'the webhook was not told of a question', last: delivery.last });
  }
}

function nameOf({ run_id, seq }: Notice): { run_id: string; seq: number } {
  return { run_id, seq };
}

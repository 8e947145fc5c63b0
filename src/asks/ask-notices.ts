import { Injectable, Logger, type OnModuleDestroy } from '@nestjs/common';
import { rawJson, toJson } from '../domain/json/raw-json.js';
import { Config } from '../platform/config/config.js';
import { Database } from '../platform/database/database.js';
import { Metrics } from '../platform/metrics/metrics.js';
import { Lookout } from '../platform/notifier/lookout.js';
import { Notifier } from '../platform/notifier/notifier.js';
import { deliver } from './deliver.js';
import type { Notice } from './notices.sql.js';
import { putBack, takeNotices } from './take-notices.js';

/*
 * Posts every question that was raised to the webhook. It looks for notices when notified of questions, at start and every
 * renew period, sends a few at a time and leaves the rest in the database: so its memory is bounded, several processes send
 * each notice once, and a notice exists only where the transaction that raised its question is committed. What the receiver
 * has not taken when the process stops is put back for the next one (which may so send it twice); a process that is killed
 * loses the few that it was sending. It delays no request, and its failures are only logged.
 * Without a webhook it takes the notices away, so that they do not pile up.
 */
const MOST_SENDING = 4;

@Injectable()
export class AskNotices implements OnModuleDestroy {
  readonly #logger = new Logger('asks');
  readonly #stopping = new AbortController();
  readonly #sending = new Set<Promise<void>>();
  readonly #lookout = new Lookout('notices of questions', () => this.#takeAll());

  constructor(
    private readonly database: Database,
    private readonly config: Config,
    private readonly notifier: Notifier,
    private readonly metrics: Metrics,
  ) {}

  /** Looks, and goes on looking. */
  start(): void {
    this.#lookout.open({ notifier: this.notifier, on: ['asks'], everySeconds: this.config.renewSeconds });
    this.#lookout.now();
  }

  /** Ends what is being sent at once, and puts it back. */
  async onModuleDestroy(): Promise<void> {
    this.#stopping.abort();
    await this.#lookout.close();
    await Promise.all(this.#sending);
  }

  async #takeAll(): Promise<void> {
    const url = this.config.askWebhookUrl;
    while (!this.#stopping.signal.aborted) {
      const most = MOST_SENDING - this.#sending.size;
      // The first that is sent looks again.
      if (most <= 0) return;
      const notices = await takeNotices(this.database, url === undefined ? 'drop' : most);
      if (url === undefined || notices.length === 0) return;
      for (const notice of notices) this.#send(url, notice);
    }
  }

  #send(url: string, notice: Notice): void {
    const sending = this.#deliver(url, notice)
      .catch((error: unknown) =>
        this.#logger.error({
          msg: 'a notice of a question was lost',
          run_id: notice.run_id,
          seq: notice.seq,
          err: error,
        }),
      )
      .finally(() => {
        this.#sending.delete(sending);
        this.#lookout.now();
      });
    this.#sending.add(sending);
  }

  async #deliver(url: string, notice: Notice): Promise<void> {
    const receiver = { url, secret: this.config.askWebhookSecret };
    const delivery = await deliver(
      receiver,
      toJson({ ...notice, schema: rawJson(notice.schema) }),
      this.#stopping.signal,
    );
    if (delivery.kind === 'stopped') return putBack(this.database, notice);
    this.metrics.askNotices.inc({ result: delivery.kind === 'sent' ? 'sent' : 'failed' });
    if (delivery.kind === 'sent') return;
    const { run_id, seq } = notice;
    this.#logger.error({ msg: 'the webhook did not accept a notice of a question', run_id, seq, last: delivery.last });
  }
}

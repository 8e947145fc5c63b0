import { Injectable, Logger, type OnModuleDestroy } from '@nestjs/common';
import { Config } from '../platform/config/config.js';
import { PeriodicWorker } from '../platform/periodic-worker.js';
import type { ReaperCounts } from './reaper-part.js';
import { ReaperPass } from './reaper-pass.js';

/** Makes a reaper pass at start, and then one every renew period. */
@Injectable()
export class Reaper implements OnModuleDestroy {
  readonly #logger = new Logger('reaper');
  readonly #worker = new PeriodicWorker(
    () => this.#makePass(),
    (error) =>
      this.#logger.error({ msg: 'a reaper pass failed; the next one begins after the usual pause', err: error }),
  );

  constructor(
    private readonly pass: ReaperPass,
    private readonly config: Config,
  ) {}

  start(): void {
    this.#worker.start({ everySeconds: this.config.renewSeconds, first: 'at once' });
  }

  async onModuleDestroy(): Promise<void> {
    await this.#worker.stop();
  }

  async #makePass(): Promise<void> {
    const counts = await this.pass.run();
    if (didSomething(counts)) this.#logger.log({ msg: 'a reaper pass has done something', counts });
  }
}

/** That old changes were forgotten says nothing to anybody. */
function didSomething({ changes: _, ...counts }: ReaperCounts): boolean {
  return Object.values(counts).some((count) => count > 0);
}

import { Injectable, Logger, type OnModuleDestroy } from '@nestjs/common';
import { Config } from '../platform/config/config.js';
import type { ReaperCounts } from './reaper-part.js';
import { ReaperPass } from './reaper-pass.js';

/*
 * The loop around the reaper's pass: once at start, then a renew period after each pass has ended, so that passes never
 * overlap. It decides nothing, and an error of a pass never ends the loop.
 */
@Injectable()
export class Reaper implements OnModuleDestroy {
  readonly #logger = new Logger('reaper');
  #timer: NodeJS.Timeout | undefined;
  #passing: Promise<void> = Promise.resolve();
  #stopped = false;

  constructor(
    private readonly pass: ReaperPass,
    private readonly config: Config,
  ) {}

  /** Makes the first pass and goes on. */
  start(): void {
    this.#passing = this.#turn();
  }

  /** Ends the loop, after the pass that is under way. */
  async onModuleDestroy(): Promise<void> {
    this.#stopped = true;
    clearTimeout(this.#timer);
    await this.#passing;
  }

  async #turn(): Promise<void> {
    try {
      const counts = await this.pass.run();
      if (didSomething(counts)) this.#logger.log({ msg: 'reaped', ...counts });
    } catch (error) {
      this.#logger.error({ msg: 'a reaper pass failed', err: error });
    }
    if (this.#stopped) return;
    this.#timer = setTimeout(() => void (this.#passing = this.#turn()), this.config.renewSeconds * 1000).unref();
  }
}

/** That old changes were forgotten says nothing to anybody. */
function didSomething({ changes: _, ...counts }: ReaperCounts): boolean {
  return Object.values(counts).some((count) => count > 0);
}

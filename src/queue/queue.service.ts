import { Injectable, Logger } from '@nestjs/common';
import { Latch } from '../platform/latch.js';
import { Metrics } from '../platform/metrics/metrics.js';
import { Sweep } from './sweep.js';
import type { Why } from './why.js';

/**
 * Wakes the queue. A caller's wake returns after a sweep that began after the wake was called, and never throws into it.
 * Inside one process sweeps coalesce: whoever wakes during a sweep waits for one further sweep, which serves all of them.
 * Sweeps of several processes need no lock: the guarded update decides between two sweeps, the leases' key between two runs.
 */
@Injectable()
export class QueueService {
  readonly #logger = new Logger('queue');
  readonly #sweeps = Latch.shared<Why[], void>((whys) => this.#sweepOnce([...new Set(whys.flat())]));
  #owed = false;
  /**
   * Runs whose promotion failed by itself in the last sweep. It is tried again once, not for ever, and by a pass that begins
   * after it has failed: by then what made it fail may be over.
   */
  #failing = new Map<string, 'has failed' | 'owed' | 'made up for'>();

  constructor(
    private readonly sweep: Sweep,
    private readonly metrics: Metrics,
  ) {}

  /** True where a sweep of this process is to be made up for by the reaper pass that is under way, or the next. */
  get owed(): boolean {
    return this.#owed || [...this.#failing.values()].includes('owed');
  }

  /** True where no sweep is to be made up for, neither by the next pass nor by one after it. */
  get settled(): boolean {
    return !this.owed && ![...this.#failing.values()].includes('has failed');
  }

  /** A reaper pass begins, a renew period after the one before: it makes up for the promotions that have failed until now. */
  beginPass(): void {
    for (const [runId, standing] of this.#failing) if (standing === 'has failed') this.#failing.set(runId, 'owed');
  }

  /** Sweeps, with all these whys; returns when that is done. */
  async wake(...whys: Why[]): Promise<void> {
    for (const why of whys) this.metrics.wakes.inc({ why });
    await this.#sweeps.enter(whys);
  }

  /** Leaves a sweep owed: something may have been freed that nobody has woken for. */
  owe(): void {
    this.#owed = true;
  }

  /** Resolves when the sweeps that were asked for are done. */
  idle(): Promise<void> {
    return this.#sweeps.idle();
  }

  async #sweepOnce(whys: Why[]): Promise<void> {
    const observe = this.metrics.sweepSeconds.startTimer();
    // What becomes owed while this sweep is under way stays owed: the sweep may have looked before that release.
    this.#owed = false;
    try {
      const { failed, unfinished } = await this.sweep.run(whys);
      const makesUp = whys.includes('owed');
      const before = this.#failing;
      this.#failing = new Map(
        failed.map((runId) => {
          const standing = before.get(runId) ?? 'has failed';
          return [runId, makesUp && standing === 'owed' ? 'made up for' : standing];
        }),
      );
      this.#owed ||= unfinished;
      this.metrics.sweeps.inc({ result: unfinished || failed.length > 0 ? 'incomplete' : 'clean' });
    } catch (error) {
      this.#owed = true;
      this.metrics.sweeps.inc({ result: 'failed' });
      this.#logger.error({ msg: 'a sweep failed; the next reaper pass sweeps again', whys, err: error });
    } finally {
      observe();
    }
  }
}

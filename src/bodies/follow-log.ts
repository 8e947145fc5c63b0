import { Injectable, type OnModuleDestroy, type OnModuleInit } from '@nestjs/common';
import { Config } from '../platform/config/config.js';
import { Database } from '../platform/database/database.js';
import type { Bounds } from '../platform/http/parked-group.js';
import { Parking } from '../platform/http/parking.js';
import { Lifecycle } from '../platform/lifecycle.js';
import { Notifier } from '../platform/notifier/notifier.js';
import { findChangedLogs, findLog, type FoundLog, type WantedLog } from './logs.sql.js';

export type { WantedLog };

/** A log with so many bytes of it that the caller has already. */
type Followed = WantedLog & { size: number };

/** Of the logs of one step: many may follow a run that matters to them, and all hear of it at once. */
const BOUNDS: Bounds<Followed> = { of: ({ run_id, seq }) => `${run_id} ${seq}`, most: 128, looking: 8 };

/** Gives a log when there is more of it. */
@Injectable()
export class FollowLog implements OnModuleInit, OnModuleDestroy {
  readonly #parking: Parking<Followed>;

  constructor(
    private readonly database: Database,
    lifecycle: Lifecycle,
    private readonly notifier: Notifier,
    private readonly config: Config,
  ) {
    this.#parking = new Parking('logs that have grown', lifecycle, BOUNDS, async (waiting: Followed[]) => {
      const changed = await database.ask(findChangedLogs(waiting));
      return changed.map((place) => waiting[place]!);
    });
  }

  onModuleInit(): void {
    // A step that ends, or is rolled back, ends its log: that is a change of its run.
    this.#parking.open({ notifier: this.notifier, on: ['logs', 'runs'], everySeconds: this.config.renewSeconds });
  }

  onModuleDestroy(): void {
    this.#parking.close();
  }

  /** The log as it is now; undefined where there is no such step. */
  find(wanted: WantedLog): Promise<FoundLog | undefined> {
    return this.database.ask(findLog(wanted));
  }

  /** How many callers wait now. */
  get size(): number {
    return this.#parking.size;
  }

  /**
   * The log as soon as it has not exactly `size` bytes, or can get no more. `still`: it had no more as long as it waited; the attempt that was followed.
   * Undefined: there is no such step. A caller who named no attempt follows the one that was current when they asked.
   */
  async follow(
    wanted: WantedLog,
    size: number,
    patience: { seconds: number; gone: AbortSignal },
  ): Promise<{ log?: FoundLog; still?: number | null }> {
    const followed: Followed = { ...wanted, size };
    const found = await this.#parking.wait(followed, patience, async () => {
      const log = await this.database.ask(findLog(followed));
      if (log === undefined) return {};
      followed.attempt = log.attempt;
      return log.grows && (log.size ?? 0) === size ? undefined : { log };
    });
    return found ?? { still: followed.attempt };
  }
}

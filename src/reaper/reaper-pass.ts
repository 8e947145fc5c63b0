import { Inject, Injectable, Logger } from '@nestjs/common';
import { CommitUnknown } from '../platform/sessions/faults.js';
import { Lifecycle } from '../platform/lifecycle.js';
import { QueueService } from '../queue/queue.service.js';
import type { Why } from '../queue/why.js';
import { ServerPresence } from './servers/server-presence.js';
import { REAPER_PARTS, type ReaperCounts, type ReaperPart } from './reaper-part.js';

/**
 * One pass of the reaper: the look for an outage, the parts that may free something, one wake if any did or a sweep is
 * owed, then the other parts. It never touches a QUEUED run. The loop around it is the Reaper.
 */
@Injectable()
export class ReaperPass {
  readonly #logger = new Logger('reaper');
  #isFirst = true;

  constructor(
    @Inject(REAPER_PARTS) private readonly parts: ReaperPart[],
    private readonly queue: QueueService,
    private readonly lifecycle: Lifecycle,
    private readonly presence: ServerPresence,
  ) {}

  async run(): Promise<ReaperCounts> {
    const counts: ReaperCounts = {
      asks: 0,
      timeouts: 0,
      expired: 0,
      unbegun: 0,
      leftovers: 0,
      servers: 0,
      changes: 0,
      uploads: 0,
      sealed: 0,
      errors: 0,
    };
    // The first comes right behind the start-up wake: what failed there is not over yet.
    if (!this.#isFirst) this.queue.beginPass();
    this.#isFirst = false;
    // First of all, and without it nothing: after an outage nodes are to speak before anything is taken from them.
    await this.presence.touch();
    const whys = new Set<Why>();
    for (const part of this.parts) {
      if (part.wakes !== undefined && (await this.#take(part, counts))) whys.add(part.wakes);
    }
    if (this.queue.owed) whys.add('owed');
    if (whys.size > 0) await this.queue.wake(...whys);
    for (const part of this.parts.filter(({ wakes }) => wakes === undefined)) await this.#take(part, counts);
    return counts;
  }

  /** True where it did something, or where a COMMIT got no answer: then it may have. */
  async #take(part: ReaperPart, counts: ReaperCounts): Promise<boolean> {
    let did = false;
    try {
      for (const found of await part.find()) {
        if (this.lifecycle.graceOver.aborted) break;
        try {
          if (!(await part.reap(found))) continue;
          counts[part.name] += 1;
          did = true;
        } catch (error) {
          did ||= error instanceof CommitUnknown;
          this.#failed(part, counts, error);
        }
      }
    } catch (error) {
      this.#failed(part, counts, error);
    }
    return did;
  }

  #failed(part: ReaperPart, counts: ReaperCounts, error: unknown): void {
    counts.errors += 1;
    this.#logger.error({
      msg: 'a part of a reaper pass failed; the next pass tries again',
      part: part.name,
      err: error,
    });
  }
}

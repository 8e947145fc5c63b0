import { Injectable } from '@nestjs/common';
import { CommitUnknown } from '../platform/sessions/faults.js';
import { SealRecord } from '../records/seal-record.js';
import { QueueService } from './queue.service.js';
import type { Why } from './why.js';

/** What the transaction of a use case has brought about for others. */
export interface Released {
  /** Why the queue is woken; none: nothing was freed. */
  whys: Why[];
  /** The runs that it ended, whose records are to be sealed. */
  ended: string[];
}

/**
 * The end of every request that may free nodes: the use case commits, the queue is woken, and the records that were closed
 * are sealed beside the wake. The request is answered when both are done. Neither fails it: a sweep that failed is owed, and
 * the reaper seals what was not sealed. Nothing stands between the commit and the wake, so whatever fails after the commit
 * fails after the wake too. The use case goes on even if its caller has gone. The reaper has its own wake, at the end of a pass.
 */
@Injectable()
export class ReleaseEdge {
  readonly #underWay = new Set<Promise<unknown>>();

  constructor(
    private readonly queue: QueueService,
    private readonly record: SealRecord,
  ) {}

  /** The outcome of the use case, or its error. A COMMIT without an answer may have freed nodes: it leaves a sweep owed. */
  async run<Outcome>(useCase: () => Promise<Outcome>, releasedBy: (outcome: Outcome) => Released): Promise<Outcome> {
    const release = this.#release(useCase, releasedBy);
    this.#underWay.add(release);
    try {
      return await release;
    } finally {
      this.#underWay.delete(release);
    }
  }

  /** Seals the record of a run that ended in the wake, or as soon as it began. */
  async sealEnded(runId: string): Promise<void> {
    await this.record.seal([runId]);
  }

  /** True where no other server has to sweep in the place of this one, should its process end now. */
  get settled(): boolean {
    return this.#underWay.size === 0 && this.queue.settled;
  }

  /** Resolves when every use case under way has come to its end, and the sweeps that were asked for are done. */
  async idle(): Promise<void> {
    await Promise.allSettled(this.#underWay);
    await this.queue.idle();
  }

  async #release<Outcome>(
    useCase: () => Promise<Outcome>,
    releasedBy: (outcome: Outcome) => Released,
  ): Promise<Outcome> {
    let outcome: Outcome;
    try {
      outcome = await useCase();
    } catch (error) {
      if (error instanceof CommitUnknown) this.queue.owe();
      throw error;
    }
    const { whys, ended } = releasedBy(outcome);
    const sealed = ended.length > 0 ? this.record.seal(ended) : undefined;
    if (whys.length > 0) await this.queue.wake(...whys);
    await sealed;
    return outcome;
  }
}

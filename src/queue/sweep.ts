import { Injectable, Logger } from '@nestjs/common';
import type { Matched } from '../domain/matching/match-result.js';
import { type Answer, sweepHeads, type Tried, type Wish } from '../domain/sweep/sweep-heads.js';
import type { WaitingQueue } from '../domain/sweep/waiting-queue.js';
import { FleetView } from '../fleet/fleet-view.js';
import { Config } from '../platform/config/config.js';
import { isUnreachable } from '../platform/database/faults.js';
import { Lifecycle } from '../platform/lifecycle.js';
import { point } from '../platform/points.js';
import { Promote } from './promote.js';
import { QueueView } from './queue-view.js';
import type { Why } from './why.js';

export interface SweepOutcome {
  promoted: string[];
  /** Runs whose promotion failed by itself. */
  failed: string[];
  /** Cut short, or gave up starting over: runs may wait beside nodes that fit them. */
  unfinished: boolean;
}

const MOST_RESTARTS_IN_A_ROW = 20;

/** One sweep: promotes, in order of arrival, the queued runs that can go; looks only at what can matter. */
@Injectable()
export class Sweep {
  readonly #logger = new Logger('queue');

  constructor(
    private readonly fleet: FleetView,
    private readonly queue: QueueView,
    private readonly promotion: Promote,
    private readonly config: Config,
    private readonly lifecycle: Lifecycle,
  ) {}

  /** Throws where the queue cannot be read or the database is away: the sweep is then owed. */
  async run(whys: Why[]): Promise<SweepOutcome> {
    if (!(this.config.leaseTtlSeconds > 0)) {
      throw new Error('leases have no time to live: nothing is promoted, since such a lease would never end');
    }
    await point('sweep.begin');
    const outcome: SweepOutcome = { promoted: [], failed: [], unfinished: false };
    let restartsInARow = 0;
    do {
      const { queue } = await this.queue.look();
      if (queue.depth === 0) return outcome;
      const before = outcome.promoted.length;
      if ((await this.#pass(queue, whys, outcome)) === 'ended') return outcome;
      restartsInARow = outcome.promoted.length > before ? 1 : restartsInARow + 1;
    } while (restartsInARow <= MOST_RESTARTS_IN_A_ROW);
    this.#logger.warn({ msg: 'gave up starting over: every pass collided', whys });
    outcome.unfinished = true;
    return outcome;
  }

  /** Over the whole queue, with everything read once; `stale` when a collision shows that it is outdated. */
  async #pass(queue: WaitingQueue, whys: Why[], outcome: SweepOutcome): Promise<'ended' | 'stale'> {
    const { taken } = await this.fleet.look();
    const lines = queue.heads(taken);
    await point('sweep.read');
    const sweep = sweepHeads(lines, (after) => queue.next(after), taken, this.config.maxLeasesPerRun);
    for (let step = sweep.next(); !step.done;) {
      if (this.lifecycle.graceOver.aborted) {
        outcome.unfinished = true;
        return 'ended';
      }
      const answer = await this.#fulfil(step.value, whys, outcome);
      if (answer === 'stale') return 'stale';
      step = sweep.next(answer);
    }
    return 'ended';
  }

  /** `stale`: a promotion has met a node that was taken; what was read is outdated. */
  async #fulfil(wish: Wish, whys: Why[], outcome: SweepOutcome): Promise<Answer | 'stale'> {
    if (wish.kind === 'promote') return this.#promote(wish.run.run_id, wish.onto, whys, outcome);
    const { run, onto } = wish;
    const cap = this.config.maxLeasesPerRun;
    this.#logger.log({ msg: 'a queued run is wider than the cap', run_id: run.run_id, nodes: onto.nodes.length, cap });
    return undefined;
  }

  async #promote(
    runId: string,
    { assigned, nodes }: Matched,
    whys: Why[],
    outcome: SweepOutcome,
  ): Promise<Tried | 'stale'> {
    if (outcome.failed.includes(runId)) return { kind: 'passed over' };
    try {
      const result = await this.promotion.promote(runId, assigned, nodes, whys);
      if (result.kind === 'collided') return 'stale';
      if (result.kind === 'moved') return { kind: 'passed over' };
      outcome.promoted.push(runId);
      return { kind: 'promoted', holds: result.holds };
    } catch (error) {
      if (isUnreachable(error)) throw error;
      this.#logger.error({ msg: 'a promotion failed', run_id: runId, whys, err: error });
      outcome.failed.push(runId);
      return { kind: 'passed over' };
    }
  }
}

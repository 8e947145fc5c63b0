import { Injectable, Logger } from '@nestjs/common';
import type { UnavailableNodes } from '../domain/matching/fleet-use.js';
import {
  type BundledCommand,
  bundlePromotions,
  type EndOfPass,
  type MatchedRun,
} from '../domain/sweep/bundle-promotions.js';
import { type Outcome, sweepByGroups } from '../domain/sweep/sweep-by-groups.js';
import type { WaitingQueue } from '../domain/sweep/waiting-queue.js';
import { FleetView } from '../fleet/fleet-view.js';
import { Config } from '../platform/config/config.js';
import { failpoint } from '../platform/failpoints.js';
import { Lifecycle } from '../platform/lifecycle.js';
import { isUnreachable } from '../platform/sessions/faults.js';
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

/** One pass over the queue: what it is for, what the sweep has done so far, and how many runs may go together. */
interface Pass {
  whys: Why[];
  outcome: SweepOutcome;
  most: number;
}

const MOST_RESTARTS_IN_A_ROW = 20;
const MOST_TOGETHER = 64;

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
    // 1. Where leases have no time to live nothing is promoted: never a lease without an end.
    if (!(this.config.leaseTtlSeconds > 0)) {
      throw new Error('leases have no time to live: nothing is promoted, since such a lease would never end');
    }
    await failpoint('sweep.begin');
    const outcome: SweepOutcome = { promoted: [], failed: [], unfinished: false };
    let most = MOST_TOGETHER;
    for (let restarts = 0; restarts <= MOST_RESTARTS_IN_A_ROW;) {
      // 2. Where nothing is queued it is done, after one cheap read. Where something waited a moment ago something is
      // likely to wait now: both reads go out at once.
      const early = this.queue.lastDepth > 0 ? this.fleet.refresh() : undefined;
      early?.catch(() => undefined);
      const { queue } = await this.queue.refresh();
      if (queue.depth === 0) return outcome;
      // 3. The queue, the live adverts and the unavailable nodes are read once each, after the sweep began.
      const { unavailable } = await (early ?? this.fleet.refresh());
      const before = outcome.promoted.length;
      const end = await this.#pass(queue, unavailable, { whys, outcome, most });
      if (end === 'complete' || end === 'cut short') return outcome;
      // 6. What was read is stale, or what was matched is wrong: it starts over from the oldest run, with everything read
      // anew. Only so many times in a row, where nothing comes of it.
      if (end === 'one by one') most = 1;
      restarts = outcome.promoted.length > before ? 1 : restarts + 1;
    }
    // 7. What a sweep leaves undone is owed: `QueueService` sees to it.
    this.#logger.warn({ msg: 'a sweep gave up because every pass collided; the next reaper pass sweeps again', whys });
    outcome.unfinished = true;
    return outcome;
  }

  async #pass(
    queue: WaitingQueue,
    unavailable: UnavailableNodes,
    pass: Pass,
  ): Promise<EndOfPass | 'cut short' | 'collided'> {
    const { outcome, most } = pass;
    const groups = queue.oldestOfEachGroup(unavailable);
    await failpoint('sweep.read');
    // 4. The runs in order of arrival, each matched against what is still free: `sweepByGroups` counts every node that a
    // promotion took among the unavailable ones.
    const matched = sweepByGroups(
      groups,
      (after) => queue.nextInGroup(after),
      unavailable,
      this.config.maxLeasesPerRun,
    );
    const commands = bundlePromotions(matched, { most, passOver: (runId) => outcome.failed.includes(runId) });
    let next = commands.next();
    while (!next.done) {
      // 5. Nothing but the end of the time to stop ends a sweep between two promotions.
      if (this.lifecycle.graceOver.aborted) {
        outcome.unfinished = true;
        return 'cut short';
      }
      const result = await this.#carryOut(next.value, pass);
      if (result === 'collided') return 'collided';
      next = commands.next(result);
    }
    return next.value;
  }

  async #carryOut(command: BundledCommand, pass: Pass): Promise<Outcome | 'collided' | undefined> {
    if (command.kind === 'promote') return this.#promote(command.runs, pass);
    const { run, onto } = command;
    const cap = this.config.maxLeasesPerRun;
    this.#logger.log({
      msg: 'a queued run needs more nodes than a run may hold',
      run_id: run.run_id,
      nodes: onto.nodes.length,
      cap,
    });
    return undefined;
  }

  /** 5. A promotion is a transaction of its own. Where it fails, the failure is logged and the sweep goes on. */
  async #promote(runs: MatchedRun[], { whys, outcome }: Pass): Promise<Outcome | 'collided'> {
    const ids = runs.map(({ run }) => run.run_id);
    const promotable = runs.map(({ run, onto }) => ({
      run_id: run.run_id,
      assigned: onto.assigned,
      nodes: onto.nodes,
    }));
    const serverSteps = runs.some(({ run }) => run.serverSteps);
    try {
      const result = await this.promotion.promote(promotable, whys, { serverSteps });
      if (result.kind === 'collided') return 'collided';
      if (result.kind === 'not_queued') return { kind: 'passed over' };
      outcome.promoted.push(...ids);
      return result;
    } catch (error) {
      if (isUnreachable(error)) throw error;
      // Which of several has failed is not known: it fails again when it is tried by itself.
      if (ids.length === 1) {
        this.#logger.error({ msg: 'a promotion failed; the run stays queued', run_id: ids[0], whys, err: error });
        outcome.failed.push(...ids);
      }
      return { kind: 'passed over' };
    }
  }
}

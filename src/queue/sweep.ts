import { Injectable, Logger } from '@nestjs/common';
import type { Matched } from '../domain/matching/match.js';
import type { QueuedRun } from '../domain/sweep/runs-in-order.js';
import { type Outcome, sweepByGroups } from '../domain/sweep/sweep-by-groups.js';
import type { WaitingQueue } from '../domain/sweep/waiting-queue.js';
import { type Fleet, FleetView } from '../fleet/fleet-view.js';
import { Config } from '../platform/config/config.js';
import { failpoint } from '../platform/failpoints.js';
import { Lifecycle } from '../platform/lifecycle.js';
import { isUnreachable } from '../platform/sessions/faults.js';
import type { Promotable } from './promote-runs.sql.js';
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
/** The first is promoted by itself, then twice as many at a time as before: who frees one node waits for one promotion. */
const MOST_TOGETHER = 64;

type Passed = 'ended' | 'stale' | 'one by one';

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
    await failpoint('sweep.begin');
    const outcome: SweepOutcome = { promoted: [], failed: [], unfinished: false };
    let restartsInARow = 0;
    let most = MOST_TOGETHER;
    do {
      // Where something waited a moment ago something is likely to wait now: both go out at once.
      const early = this.queue.lastDepth > 0 ? this.fleet.refresh() : undefined;
      early?.catch(() => undefined);
      const { queue } = await this.queue.refresh();
      if (queue.depth === 0) return outcome;
      const before = outcome.promoted.length;
      const ended = await this.#pass(queue, await (early ?? this.fleet.refresh()), { whys, outcome, most });
      if (ended === 'ended') return outcome;
      if (ended === 'one by one') most = 1;
      restartsInARow = outcome.promoted.length > before ? 1 : restartsInARow + 1;
    } while (restartsInARow <= MOST_RESTARTS_IN_A_ROW);
    this.#logger.warn({ msg: 'a sweep gave up because every pass collided; the next reaper pass sweeps again', whys });
    outcome.unfinished = true;
    return outcome;
  }

  /**
   * Over the whole queue, with everything read once. `stale`: a promotion has met a node that was taken, and what was read is
   * outdated. `one by one`: of several runs one could not be promoted, so none was, and what was matched behind it is wrong.
   */
  async #pass(
    queue: WaitingQueue,
    { unavailable }: Fleet,
    { whys, outcome, most }: { whys: Why[]; outcome: SweepOutcome; most: number },
  ): Promise<Passed> {
    const groups = queue.oldestOfEachGroup(unavailable);
    await failpoint('sweep.read');
    const sweep = sweepByGroups(groups, (after) => queue.nextInGroup(after), unavailable, this.config.maxLeasesPerRun);
    const matched: Promotable[] = [];
    let together = 1;
    for (let step = sweep.next(); !step.done;) {
      if (this.lifecycle.graceOver.aborted) {
        outcome.unfinished = true;
        return 'ended';
      }
      const { run, onto, kind } = step.value;
      let outcomeOfRun: Outcome | undefined;
      if (kind === 'log too wide') {
        this.#logTooWide(run, onto);
      } else if (outcome.failed.includes(run.run_id)) {
        outcomeOfRun = { kind: 'passed over' };
      } else if (run.serverSteps || together === 1) {
        const before = await this.#promoteTogether(matched.splice(0), whys, outcome);
        if (before !== 'ended') return before;
        const result = await this.#promoteOne(run, onto, whys, outcome);
        if (result === 'stale') return 'stale';
        outcomeOfRun = result;
        together = Math.max(together, Math.min(2, most));
      } else {
        matched.push({ run_id: run.run_id, assigned: onto.assigned, nodes: onto.nodes });
        outcomeOfRun = { kind: 'promoted', holds: onto.nodes.map((node) => node.node_id) };
        if (matched.length >= together) {
          const passed = await this.#promoteTogether(matched.splice(0), whys, outcome);
          if (passed !== 'ended') return passed;
          together = Math.min(2 * together, most);
        }
      }
      step = sweep.next(outcomeOfRun);
    }
    return this.#promoteTogether(matched, whys, outcome);
  }

  #logTooWide({ run_id }: QueuedRun, { nodes }: Matched): void {
    const cap = this.config.maxLeasesPerRun;
    this.#logger.log({ msg: 'a queued run needs more nodes than a run may hold', run_id, nodes: nodes.length, cap });
  }

  async #promoteTogether(runs: Promotable[], whys: Why[], outcome: SweepOutcome): Promise<Passed> {
    if (runs.length === 0) return 'ended';
    try {
      const { kind } = await this.promotion.promote(runs, whys, { serverSteps: false });
      if (kind === 'collided') return 'stale';
      if (kind === 'not_queued') return 'one by one';
      outcome.promoted.push(...runs.map((run) => run.run_id));
      return 'ended';
    } catch (error) {
      if (isUnreachable(error)) throw error;
      // Which of them it was, and what it was, shows when they are tried one by one.
      return 'one by one';
    }
  }

  async #promoteOne(
    { run_id, serverSteps }: QueuedRun,
    { assigned, nodes }: Matched,
    whys: Why[],
    outcome: SweepOutcome,
  ): Promise<Outcome | 'stale'> {
    const run = { run_id, assigned, nodes };
    try {
      const result = await this.promotion.promote([run], whys, { serverSteps });
      if (result.kind === 'collided') return 'stale';
      if (result.kind === 'not_queued') return { kind: 'passed over' };
      outcome.promoted.push(run_id);
      return result;
    } catch (error) {
      if (isUnreachable(error)) throw error;
      this.#logger.error({ msg: 'a promotion failed; the run stays queued', run_id, whys, err: error });
      outcome.failed.push(run_id);
      return { kind: 'passed over' };
    }
  }
}

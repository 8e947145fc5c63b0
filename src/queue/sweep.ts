import { Injectable, Logger } from '@nestjs/common';
import { match } from '../domain/matching/match.js';
import { RankedFleet } from '../domain/matching/ranked-fleet.js';
import { tooWide } from '../domain/matching/width.js';
import { readAdverts } from '../fleet/read-adverts.sql.js';
import { readUnavailable } from '../fleet/read-unavailable.sql.js';
import { Config } from '../platform/config/config.js';
import { Database } from '../platform/database/database.js';
import { isUnreachable } from '../platform/database/faults.js';
import { Lifecycle } from '../platform/lifecycle.js';
import { point } from '../platform/points.js';
import { Promote } from './promote.js';
import { readQueue, somethingIsQueued } from './read-queue.sql.js';
import type { Why } from './why.js';

export interface SweepOutcome {
  promoted: string[];
  /** Runs whose promotion failed by itself. */
  failed: string[];
  /** Cut short, or gave up starting over: runs may wait beside nodes that fit them. */
  unfinished: boolean;
}

const MOST_RESTARTS_IN_A_ROW = 20;

/** One sweep: looks at every queued run in arrival order and promotes those that can go. */
@Injectable()
export class Sweep {
  readonly #logger = new Logger('queue');

  constructor(
    private readonly database: Database,
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
    if (!(await somethingIsQueued(this.database))) return outcome;
    let restartsInARow = 0;
    do {
      const before = outcome.promoted.length;
      if ((await this.#pass(whys, outcome)) === 'ended') return outcome;
      restartsInARow = outcome.promoted.length > before ? 1 : restartsInARow + 1;
    } while (restartsInARow <= MOST_RESTARTS_IN_A_ROW);
    this.#logger.warn({ msg: 'gave up starting over: every pass collided', whys });
    outcome.unfinished = true;
    return outcome;
  }

  /** From the oldest to the newest, with everything read once; `stale` when a collision shows that it is outdated. */
  async #pass(whys: Why[], outcome: SweepOutcome): Promise<'ended' | 'stale'> {
    const queue = await readQueue(this.database);
    const adverts = RankedFleet.of(await readAdverts(this.database));
    const unavailable = (await readUnavailable(this.database)).all;
    await point('sweep.read');
    for (const run of queue) {
      if (this.lifecycle.graceOver.aborted) {
        outcome.unfinished = true;
        return 'ended';
      }
      if (outcome.failed.includes(run.run_id)) continue;
      const found = match(run.requires, run.spread, adverts, unavailable);
      if (found.kind !== 'matched') continue;
      if (tooWide(found.nodes.length, this.config.maxLeasesPerRun)) {
        this.#logger.log({
          msg: 'a queued run is wider than the cap',
          run_id: run.run_id,
          nodes: found.nodes.length,
          cap: this.config.maxLeasesPerRun,
        });
        continue;
      }
      try {
        const result = await this.promotion.promote(run.run_id, found.assigned, found.nodes, whys);
        if (result.kind === 'collided') return 'stale';
        if (result.kind !== 'promoted') continue;
        for (const node of result.holds) unavailable.add(node);
      } catch (error) {
        if (isUnreachable(error)) throw error;
        this.#logger.error({ msg: 'a promotion failed', run_id: run.run_id, whys, err: error });
        outcome.failed.push(run.run_id);
        continue;
      }
      outcome.promoted.push(run.run_id);
    }
    return 'ended';
  }
}

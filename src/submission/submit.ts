import { Injectable } from '@nestjs/common';
import { match } from '../domain/matching/match.js';
import { tooWide } from '../domain/matching/width.js';
import { FleetView } from '../fleet/fleet-view.js';
import { Config } from '../platform/config/config.js';
import { point } from '../platform/points.js';
import { type Created, CreateRun } from './create-run.js';
import { describeWidth } from './describe-width.js';
import { EnqueueRun } from './enqueue-run.js';
import type { NewRun } from './insert-run.sql.js';
import { RejectRun } from './reject-run.js';

export type Submitted =
  Created | { kind: 'existed' | 'queued' } | { kind: 'rejected'; reason: 'unsatisfiable' | 'too_wide'; detail: string };

/** A submission's decision: match, then create, enqueue or reject. Each of those is one transaction. */
@Injectable()
export class Submit {
  constructor(
    private readonly fleet: FleetView,
    private readonly config: Config,
    private readonly createRun: CreateRun,
    private readonly enqueueRun: EnqueueRun,
    private readonly rejectRun: RejectRun,
  ) {}

  async submit(run: NewRun): Promise<Submitted> {
    const { requires, spread = false } = run.contract;
    const fleet = await this.fleet.look();
    const found = match(requires, spread, fleet.adverts, fleet.taken);
    await point('submit.matched');
    if (found.kind === 'unsatisfiable') return this.#reject(run, 'unsatisfiable', found.detail);
    if (found.kind === 'busy') return { kind: await this.enqueueRun.enqueue(run, fleet) };
    if (tooWide(found.nodes.length, this.config.maxLeasesPerRun)) {
      return this.#reject(run, 'too_wide', describeWidth(found.nodes.length, this.config.maxLeasesPerRun));
    }
    const outcome = await this.createRun.create(run, found.assigned, found.nodes);
    if (outcome.kind !== 'collided') return outcome;
    // The first transaction has rolled back whole; what it was matched against is outdated.
    return { kind: await this.enqueueRun.enqueue(run, await this.fleet.look()) };
  }

  async #reject(run: NewRun, reason: 'unsatisfiable' | 'too_wide', detail: string): Promise<Submitted> {
    const outcome = await this.rejectRun.reject(run, reason, detail);
    return outcome === 'existed' ? { kind: 'existed' } : { kind: 'rejected', reason, detail };
  }
}

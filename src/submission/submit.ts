import { Injectable } from '@nestjs/common';
import type { Contract } from '../domain/contract/contract.js';
import { leastWidth } from '../domain/matching/assign-narrow.js';
import { match, type Matched, matchFree, type MatchResult, tooWide } from '../domain/matching/match.js';
import { type Fleet, FleetView } from '../fleet/fleet-view.js';
import { Config } from '../platform/config/config.js';
import { failpoint } from '../platform/failpoints.js';
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
  /** What the submissions under way were matched with. */
  readonly #wanted = new Set<Matched>();

  constructor(
    private readonly fleet: FleetView,
    private readonly config: Config,
    private readonly createRun: CreateRun,
    private readonly enqueueRun: EnqueueRun,
    private readonly rejectRun: RejectRun,
  ) {}

  async submit(run: NewRun): Promise<Submitted> {
    const fleet = await this.fleet.refresh();
    const found = this.#match(run.contract, fleet);
    if (found.kind === 'matched') this.#wanted.add(found);
    try {
      await failpoint('submit.matched');
      return await this.#decide(run, found, fleet);
    } finally {
      if (found.kind === 'matched') this.#wanted.delete(found);
    }
  }

  /**
   * Where there is room beside the submissions under way it is taken beside them: all would want the node that is preferred
   * most, and all but one of them had to wait for a sweep. Where there is none it is as if they were not there.
   */
  #match({ requires, spread = false }: Contract, { adverts, unavailable, existing }: Fleet): MatchResult {
    const cap = this.config.maxLeasesPerRun;
    if (this.#wanted.size > 0) {
      const beside = unavailable.copy();
      for (const { nodes } of this.#wanted) for (const { node_id } of nodes) beside.add(node_id);
      const found = matchFree(requires, spread, adverts, beside, cap);
      if (found && !tooWide(found.nodes.length, cap)) return { kind: 'matched', ...found };
    }
    return match(requires, spread, adverts, unavailable, { cap, existing: () => existing().fleet });
  }

  async #decide(run: NewRun, found: MatchResult, fleet: Fleet): Promise<Submitted> {
    if (found.kind === 'unsatisfiable') return this.#reject(run, 'unsatisfiable', found.detail);
    const { requires, spread = false } = run.contract;
    // What is too wide in every combination never goes, whoever is free; where something was found it is judged by that.
    const width = found.kind === 'matched' ? found.nodes.length : leastWidth(requires, spread);
    const cap = this.config.maxLeasesPerRun;
    if (tooWide(width, cap)) return this.#reject(run, 'too_wide', describeWidth(width, cap));
    if (found.kind !== 'matched') return { kind: await this.enqueueRun.enqueue(run, fleet) };
    const outcome = await this.createRun.create(run, found.assigned, found.nodes);
    if (outcome.kind !== 'collided') return outcome;
    // The first transaction has rolled back whole; what it was matched against is outdated.
    return { kind: await this.enqueueRun.enqueue(run, await this.fleet.refresh()) };
  }

  async #reject(run: NewRun, reason: 'unsatisfiable' | 'too_wide', detail: string): Promise<Submitted> {
    const outcome = await this.rejectRun.reject(run, reason, detail);
    return outcome === 'existed' ? { kind: 'existed' } : { kind: 'rejected', reason, detail };
  }
}

import { Injectable } from '@nestjs/common';
import { matchFree, tooWide } from '../domain/matching/match.js';
import { holdersOf, type Holder } from '../domain/waiting/waiting-role.js';
import type { WaitingReason } from '../domain/waiting/why-waiting.js';
import { type Fleet, FleetView } from '../fleet/fleet-view.js';
import { Config } from '../platform/config/config.js';
import type { Tx } from '../platform/database/queryable.js';
import { ExplainWaiting } from './explain-waiting.js';
import { readReturning, type Returning, type WhyReturned, writeReturn } from './return-run.sql.js';

/** Sends a run of which nothing has begun back to the queue, where it is at its old place and holds nothing. */
@Injectable()
export class ReturnRun {
  constructor(
    private readonly fleet: FleetView,
    private readonly waiting: ExplainWaiting,
    private readonly config: Config,
  ) {}

  /** The fleet by which it is judged why such a run waits; to be read before the transaction, which has its connection. */
  look(): Promise<Fleet> {
    return this.fleet.refresh();
  }

  /** `nodes`: because of which it goes back; they are locked. The run is locked and RUNNING. */
  async back(tx: Tx, runId: string, why: WhyReturned, nodes: string[], fleet: Fleet): Promise<void> {
    const returning = await tx.ask(readReturning(runId));
    tx.send(writeReturn(runId, { why, nodes, ...(await this.#judge(tx, returning, fleet)) }));
    tx.notify('runs');
  }

  /** As it will be once the run has given its nodes back. What it holds then is nothing: where it would match at once, nobody is in its way. */
  async #judge(
    tx: Tx,
    { nodes, ...required }: Returning,
    fleet: Fleet,
  ): Promise<{ reason: WaitingReason; holders: Holder[] }> {
    const { use } = fleet;
    for (const { node_id, withdrawn } of nodes) use.put(node_id, withdrawn ?? undefined, use.holds.get(node_id));
    const cap = this.config.maxLeasesPerRun;
    const found = matchFree(required.requires, required.spread, use.fleet, use.unavailable, cap);
    if (found && !tooWide(found.nodes.length, cap)) return { reason: 'BUSY', holders: [] };
    const [waiting] = await this.waiting.reasons(fleet, [required], tx);
    return { reason: waiting!.reason, holders: holdersOf(waiting!.roles) };
  }
}

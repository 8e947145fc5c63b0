import { Injectable } from '@nestjs/common';
import { candidates } from '../domain/matching/candidates.js';
import type { RankedFleet } from '../domain/matching/ranked-fleet.js';
import type { Requirement } from '../domain/contract/contract.js';
import { whyWaiting } from '../domain/waiting/why-waiting.js';
import type { Holder } from '../domain/waiting/waiting.js';
import { readUnavailable } from '../fleet/read-unavailable.sql.js';
import { Config } from '../platform/config/config.js';
import { Database } from '../platform/database/database.js';
import { insertRun, type NewRun } from './insert-run.sql.js';

/** Queues a run: its row, its steps, its record, and nothing else. A queued run holds nothing. */
@Injectable()
export class EnqueueRun {
  constructor(
    private readonly database: Database,
    private readonly config: Config,
  ) {}

  /** The reason, and who holds the nodes that the run could take, are kept for its record. */
  async enqueue(run: NewRun, adverts: RankedFleet): Promise<'queued' | 'existed'> {
    const { requires, spread = false } = run.contract;
    const { busy, draining, silent } = await readUnavailable(this.database, nodesFor(requires, adverts));
    const cap = this.config.maxLeasesPerRun;
    const { reason, roles } = whyWaiting({ requires, spread, adverts, busy, draining, silent, cap });
    const holders = distinct(roles.flatMap((role) => role.holders));
    return this.database.transaction('enqueue', async (tx) => {
      return (await insertRun(tx, run, { state: 'QUEUED', reason, holders })) ? 'queued' : 'existed';
    });
  }
}

function distinct(holders: Holder[]): Holder[] {
  return [...new Map(holders.map((holder) => [holder.node_id, holder])).values()];
}

/** Every live node that some role of the run could take. */
function nodesFor(requires: readonly Requirement[], adverts: RankedFleet): string[] {
  const ranks = new Set(requires.flatMap((requirement) => candidates(requirement, adverts)));
  return [...ranks].map((rank) => adverts.at(rank).node_id);
}

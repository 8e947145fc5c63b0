import { Injectable } from '@nestjs/common';
import type { Requirement } from '../domain/contract/contract.js';
import { type QueuePosition, queuePositions } from '../domain/waiting/queue-positions.js';
import { MOST_HOLDERS, shownHolders } from '../domain/waiting/waiting-role.js';
import { type Waiting, whyWaiting } from '../domain/waiting/why-waiting.js';
import { type Fleet, FleetView } from '../fleet/fleet-view.js';
import { type Holding, readHoldings } from '../fleet/fleet.sql.js';
import { Config } from '../platform/config/config.js';
import { Database } from '../platform/database/database.js';
import type { Queryable } from '../platform/database/queryable.js';
import type { Keyset } from '../platform/http/cursor.js';
import { arrivalKeyOf } from './arrival-key-of.js';
import { QueueView } from './queue-view.js';
import type { WaitingDto } from './waiting.dto.js';

/** What of a queued run its waiting is computed from. */
export interface QueuedPlace {
  run_id: string;
  signature: string;
  requires: Requirement[];
  spread: boolean;
  queued_at: Date;
  place: Keyset;
}

/** What a run requires, whether it is queued already or not. */
export interface RunRequirements {
  requires: readonly Requirement[];
  spread: boolean;
}

/** Why queued runs wait, asked of the matcher that would promote them, and their positions in the queue. */
@Injectable()
export class ExplainWaiting {
  constructor(
    private readonly database: Database,
    private readonly config: Config,
    private readonly fleet: FleetView,
    private readonly queue: QueueView,
  ) {}

  /** For each of these queued runs, given in arrival order, why it waits; by run id. */
  async explain(runs: QueuedPlace[]): Promise<Map<string, WaitingDto>> {
    if (runs.length === 0) return new Map();
    const fleet = await this.fleet.refresh();
    const { queue } = await this.queue.refresh();
    const asked = runs.map(({ signature, requires, place }) => ({ signature, requires, ...arrivalKeyOf(place) }));
    return this.explainAt(fleet, runs, queuePositions(queue, fleet.adverts, asked));
  }

  /** The same, where their positions are known. */
  async explainAt(
    fleet: Fleet,
    runs: readonly (RunRequirements & { run_id: string; queued_at: Date })[],
    positions: readonly QueuePosition[],
  ): Promise<Map<string, WaitingDto>> {
    const reasons = await this.reasons(fleet, runs);
    return new Map(
      runs.map(({ run_id, queued_at }, index) => {
        const { reason, detail, roles } = reasons[index]!;
        const { position, ahead } = positions[index]!;
        return [run_id, { since: queued_at.toISOString(), reason, detail, position, ahead, roles }];
      }),
    );
  }

  /** Why runs that require this are not promoted. Of the leases, those that are shown are read, in `within` where one is open. */
  async reasons(
    { use, existing }: Fleet,
    required: readonly RunRequirements[],
    within: Queryable = this.database,
  ): Promise<Waiting[]> {
    const cap = this.config.maxLeasesPerRun;
    const distinct = new Map(
      required.map(({ requires, spread }) => [keyOf({ requires, spread }), { requires, spread }]),
    );
    const requirements = [...distinct.values()].flatMap(({ requires }) => requires);
    const nodes = new Set(requirements.flatMap((requirement) => shownHolders(requirement, use)));
    const holdings = nodes.size === 0 ? new Map<string, Holding>() : await within.ask(readHoldings([...nodes]));
    const found = new Map(
      [...distinct].map(([key, one]) => [key, whyWaiting({ ...one, use, existing: existing(), holdings, cap })]),
    );
    return required.map((one) => found.get(keyOf(one))!);
  }
}

/** A holder as it is shown, of names as long as they may be. */
const HOLDER_BYTES = 700;

/** How many bytes the reason why a run waits may have at most, about: each role shows its holders. */
export function mostWaitingBytes(requires: readonly Requirement[]): number {
  return 1000 + requires.length * (200 + MOST_HOLDERS * HOLDER_BYTES);
}

/** Not the signature: that one is equal for requirements that are written differently, and the answer repeats what was written. */
function keyOf({ requires, spread }: RunRequirements): string {
  return JSON.stringify([requires, spread]);
}

import { Injectable } from '@nestjs/common';
import type { Requirement } from '../domain/contract/contract.js';
import { RankedFleet } from '../domain/matching/ranked-fleet.js';
import { aheadOf, type CandidateMemo, type Older } from '../domain/waiting/ahead-of.js';
import { whyWaiting } from '../domain/waiting/why-waiting.js';
import { readAdverts } from '../fleet/read-adverts.sql.js';
import { readUnavailable } from '../fleet/read-unavailable.sql.js';
import { Config } from '../platform/config/config.js';
import { Database } from '../platform/database/database.js';
import type { Keyset } from '../platform/http/cursor.js';
import { readGaps, readRequires } from './read-ahead.sql.js';
import type { WaitingDto } from './waiting.dto.js';

/** What of a queued run its waiting is computed from. */
export interface QueuedPlace {
  run_id: string;
  requires: Requirement[];
  spread: boolean;
  queued_at: Date;
  place: Keyset;
}

/** Why queued runs wait, asked of the matcher that would promote them. */
@Injectable()
export class ExplainWaiting {
  constructor(
    private readonly database: Database,
    private readonly config: Config,
  ) {}

  /** For each of these queued runs, given in arrival order, why it waits; by run id. */
  async explain(runs: QueuedPlace[]): Promise<Map<string, WaitingDto>> {
    if (runs.length === 0) return new Map();
    const gaps = await readGaps(
      this.database,
      runs.map((run) => run.place),
    );
    const requires = await readRequires(this.database, [...new Set(gaps.map((gap) => gap.signature))]);
    const adverts = RankedFleet.of(await readAdverts(this.database));
    const { busy, draining, silent } = await readUnavailable(this.database);

    const memo: CandidateMemo = new Map();
    const older = new Map<string, Required<Older>>();
    let position = 1;
    const explained = new Map<string, WaitingDto>();
    for (const [index, run] of runs.entries()) {
      for (const { signature, count } of gaps.filter((gap) => gap.place === index)) {
        position += count;
        const known = older.get(signature);
        if (known) known.count += count;
        else older.set(signature, { signature, requires: requires.get(signature) ?? [], count });
      }
      const { reason, detail, roles } = whyWaiting({
        requires: run.requires,
        spread: run.spread,
        adverts,
        busy,
        draining,
        silent,
        cap: this.config.maxLeasesPerRun,
      });
      const ahead = aheadOf(run.requires, older.values(), adverts, memo);
      const since = run.queued_at.toISOString();
      explained.set(run.run_id, { since, reason, detail, position, ahead, roles });
    }
    return explained;
  }
}

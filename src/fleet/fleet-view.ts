import { Injectable } from '@nestjs/common';
import type { ExistingNodes, FleetUse, UnavailableNodes } from '../domain/matching/fleet-use.js';
import type { RankedFleet } from '../domain/matching/ranked-fleet.js';
import { CachedTable } from '../platform/cache/cached-table.js';
import { Config } from '../platform/config/config.js';
import { Database } from '../platform/database/database.js';
import { type FleetState, readFleetChanges, readWholeFleet } from './fleet-changes.sql.js';
import { FleetMemory } from './fleet-memory.js';

/** The live adverts and who is unavailable, at one moment. */
export interface Fleet {
  adverts: RankedFleet;
  /** Why nodes are unavailable. */
  use: FleetUse;
  /** All that are, as a set of the reader's own. */
  unavailable: UnavailableNodes;
  /** The live nodes, and those that are remembered. Found when it is asked for: where the live ones do, nobody asks. */
  existing: () => ExistingNodes;
}

/** The fleet in this process's memory. It decides nothing by itself: a grant looks once more, in its own transaction. */
@Injectable()
export class FleetView {
  readonly #table: CachedTable<FleetMemory, FleetState>;

  constructor(database: Database, { rememberSeconds }: Config) {
    this.#table = new CachedTable<FleetMemory, FleetState>({
      readWhole: async () => {
        const state = await database.ask(readWholeFleet(rememberSeconds));
        const copy = new FleetMemory(rememberSeconds);
        copy.apply(state);
        return { copy, mark: state };
      },
      readChanges: (since) => database.ask(readFleetChanges(since)),
      apply: (copy, changes) => copy.apply(changes),
    });
  }

  /** The fleet as it is after this was called. */
  async refresh(): Promise<Fleet> {
    const memory = await this.#table.refresh();
    const use = memory.use.copy();
    return { adverts: use.fleet, use, unavailable: use.unavailable.copy(), existing: () => memory.existing };
  }
}

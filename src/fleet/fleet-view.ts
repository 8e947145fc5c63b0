import { Injectable } from '@nestjs/common';
import type { RankedFleet } from '../domain/matching/ranked-fleet.js';
import type { TakenNodes } from '../domain/matching/taken-nodes.js';
import { Database } from '../platform/database/database.js';
import { FleetMemory } from './fleet-memory.js';
import { readFleetChanges, readWholeFleet } from './read-fleet-state.sql.js';

/** The live adverts and who is unavailable, at one moment. */
export interface Fleet {
  adverts: RankedFleet;
  taken: TakenNodes;
}

/** Changes are kept for twice as long: see `forgetFleetChanges`. Milliseconds. */
const LONGEST_GAP_MS = 300_000;

/*
 * The fleet in this process's memory, and how it is kept true: triggers note every node whose advert or lease was changed,
 * with the transaction that did it, and a look reads what no earlier look can have seen, in the snapshot of one statement.
 * So a look costs what was changed since the last one and not the size of the fleet, and is as true as reading all of it.
 * It decides nothing by itself: a grant looks once more, in its own transaction.
 */
@Injectable()
export class FleetView {
  #memory: FleetMemory | undefined;
  #current: Promise<unknown> = Promise.resolve();
  #next: Promise<Fleet> | undefined;

  constructor(private readonly database: Database) {}

  /** The fleet as it is after this was called. Looks are made one at a time; who comes during one shares the next. */
  async look(): Promise<Fleet> {
    const { adverts, taken } = await (this.#next ??= this.#afterCurrent());
    return { adverts, taken: taken.copy() };
  }

  async #afterCurrent(): Promise<Fleet> {
    await this.#current;
    this.#next = undefined;
    const look = this.#lookOnce();
    this.#current = look.catch(() => undefined);
    return look;
  }

  async #lookOnce(): Promise<Fleet> {
    const memory = this.#memory;
    // Whatever fails, the next look begins anew.
    this.#memory = undefined;
    this.#memory = (await this.#relearn(memory)) ?? new FleetMemory(await readWholeFleet(this.database));
    return this.#memory.view();
  }

  /** Undefined where what is remembered is too old, or of another life of the database, or a table was emptied whole. */
  async #relearn(memory: FleetMemory | undefined): Promise<FleetMemory | undefined> {
    if (memory === undefined) return undefined;
    const changes = await readFleetChanges(this.database, memory.snapshot);
    const gap = changes.now - memory.readAt;
    if (changes.boot !== memory.boot || gap < 0 || gap > LONGEST_GAP_MS || changes.gone.includes('')) {
      return undefined;
    }
    memory.learn(changes);
    return memory;
  }
}

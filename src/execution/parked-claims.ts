import { Injectable, type OnModuleDestroy, type OnModuleInit } from '@nestjs/common';
import { Config } from '../platform/config/config.js';
import { Database } from '../platform/database/database.js';
import type { Bounds } from '../platform/http/parked-group.js';
import { Parking } from '../platform/http/parking.js';
import { Lifecycle } from '../platform/lifecycle.js';
import { Notifier } from '../platform/notifier/notifier.js';
import { readNodesToAsk } from '../steps/ready-steps.sql.js';
import { type Claimant, isStale } from './claim.js';

/** More than one node has workers; each is answered in its turn. */
const MOST_PER_NODE = 64;
const LOOKING_PER_NODE = 4;

/** An instance does one step at a time, so that a second claim of it says that the first has lost its caller. */
const BOUNDS: Bounds<Claimant> = {
  of: ({ node_id }) => node_id,
  most: MOST_PER_NODE,
  looking: LOOKING_PER_NODE,
  replaces: (newer, older) => newer.instance !== '' && newer.instance === older.instance,
};

/** Claims that wait for a step of their node, or for another instance of it to speak. */
@Injectable()
export class ParkedClaims implements OnModuleInit, OnModuleDestroy {
  readonly #parking: Parking<Claimant>;

  constructor(
    database: Database,
    lifecycle: Lifecycle,
    private readonly notifier: Notifier,
    private readonly config: Config,
  ) {
    this.#parking = new Parking('steps that became ready', lifecycle, BOUNDS, async (waiting: Claimant[]) => {
      const nodes = await database.ask(readNodesToAsk([...new Set(waiting.map(({ node_id }) => node_id))]));
      return waiting.filter((claimant) => {
        const node = nodes.get(claimant.node_id);
        if (node === undefined) return false;
        if (isStale(node.instance, claimant.instance) || node.holders.includes(claimant.instance)) return true;
        // One step is looked for by one of them.
        return node.ready-- > 0;
      });
    });
  }

  onModuleInit(): void {
    this.#parking.open({ notifier: this.notifier, on: ['steps'], everySeconds: this.config.renewSeconds });
  }

  onModuleDestroy(): void {
    this.#parking.close();
  }

  /** How many claims wait now. */
  get size(): number {
    return this.#parking.size;
  }

  /** Tries until it gives something; undefined where the time is over, the caller gone, or the process stops. */
  wait<T>(claimant: Claimant, seconds: number, attempt: () => Promise<T | undefined>): Promise<T | undefined> {
    return this.#parking.wait(claimant, { seconds, gone: claimant.gone }, attempt);
  }
}

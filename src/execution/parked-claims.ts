import { Injectable, type OnModuleDestroy, type OnModuleInit } from '@nestjs/common';
import { Config } from '../platform/config/config.js';
import { Database } from '../platform/database/database.js';
import { Hints } from '../platform/database/hints.js';
import { Parking } from '../platform/http/parking.js';
import { Lifecycle } from '../platform/lifecycle.js';
import type { Claimant } from './claim.js';
import { readNodesToAsk } from '../steps/ready-steps.sql.js';

/** Claims that wait for a step of their node, or for another instance of it to speak. */
@Injectable()
export class ParkedClaims implements OnModuleInit, OnModuleDestroy {
  readonly #parking: Parking<Claimant>;

  constructor(
    database: Database,
    lifecycle: Lifecycle,
    private readonly hints: Hints,
    private readonly config: Config,
  ) {
    this.#parking = new Parking('steps that became ready', lifecycle, async (waiting: Claimant[]) => {
      const nodes = await readNodesToAsk(database, waiting);
      return waiting.filter((claimant) => nodes.has(claimant.node_id));
    });
  }

  onModuleInit(): void {
    this.#parking.open({ hints: this.hints, on: ['steps'], everySeconds: this.config.renewSeconds });
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

import { Injectable } from '@nestjs/common';
import type { Requirement } from '../domain/contract/contract.js';
import type { QueueLine, QueuedRun } from '../domain/sweep/queue-line.js';
import { offeredThings } from '../domain/sweep/wanted-thing.js';
import type { Fleet } from '../fleet/fleet-view.js';
import { Database } from '../platform/database/database.js';
import { type LineHead, readHeads, readNeeds, readRest, readWanted, somethingIsQueued } from './read-lines.sql.js';

interface Needs {
  requires: readonly Requirement[];
  spread: boolean;
}

/** With more free nodes than this it is asked what is wanted, not what they offer. */
const FEW_FREE = 100;
/** Signatures are remembered with what they stand for, which never changes: some 300 bytes each. */
const REMEMBERED = 20_000;
/** Runs whose row does not say what they want: any node may be of use to them. */
const ANYTHING = '';

/** The queue as a sweep reads it: by lines of runs that need the same. */
@Injectable()
export class QueueLines {
  readonly #needs = new Map<string, Needs>();

  constructor(private readonly database: Database) {}

  /** Whether anything waits at all. */
  anything(): Promise<boolean> {
    return somethingIsQueued(this.database);
  }

  /** The runs of a line behind a place, oldest first. */
  rest(line: QueueLine, after: QueuedRun, limit: number): Promise<QueuedRun[]> {
    return readRest(this.database, line, after, limit);
  }

  /** The lines that the free nodes may be of use to, each with its head. */
  async heads({ adverts, taken }: Fleet): Promise<QueueLine[]> {
    const free = taken.free(FEW_FREE + 1);
    if (free.length === 0) return [];
    const things =
      free.length > FEW_FREE
        ? await readWanted(this.database)
        : [ANYTHING, ...new Set(free.flatMap((rank) => offeredThings(adverts.at(rank))))];
    const heads = await readHeads(this.database, things);
    await this.#learn(heads.filter(({ signature }) => !this.#needs.has(signature)));
    const lines = heads.map(({ signature, wants, ...run }) => {
      return { signature, wants, ...this.#needs.get(signature)!, runs: [run] };
    });
    if (this.#needs.size > REMEMBERED) this.#needs.clear();
    return lines;
  }

  async #learn(unknown: LineHead[]): Promise<void> {
    if (unknown.length === 0) return;
    const runIds = unknown.map((head) => head.run_id);
    for (const { signature, requires, spread } of await readNeeds(this.database, runIds)) {
      this.#needs.set(signature, { requires, spread });
    }
  }
}

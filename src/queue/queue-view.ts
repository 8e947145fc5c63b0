import { Injectable } from '@nestjs/common';
import type { WaitingQueue } from '../domain/sweep/waiting-queue.js';
import { CachedTable, type SnapshotMark } from '../platform/cache/cached-table.js';
import { Database } from '../platform/database/database.js';
import { QueueMemory } from './queue-memory.js';
import {
  type QueueChanges,
  readSnapshotMark,
  readQueueChanges,
  readQueuedRuns,
  readRequires,
  type RunState,
} from './queue.sql.js';

/** A queue of 100,000 is read in pieces: in one it would take several times the memory that it is kept in. */
const PAGE = 5000;

/** The queue, and when it was so, in milliseconds since 1970 by the clock of the database. */
export interface QueueSeen {
  queue: WaitingQueue;
  observedAt: number;
}

/**
 * The queue in this process's memory. It decides nothing by itself: a promotion asks again whether its run is queued. The
 * next refresh changes it: what has to agree is taken from it before anything is waited for.
 */
@Injectable()
export class QueueView {
  readonly #table: CachedTable<QueueMemory, QueueChanges>;

  constructor(database: Database) {
    this.#table = new CachedTable<QueueMemory, QueueChanges>({
      readWhole: () => readWholeQueue(database),
      readChanges: (since) => database.ask(readQueueChanges(since)),
      apply: (copy, changes) => copy.apply(changes),
    });
  }

  #depth = 0;

  /** How many waited at the last refresh. */
  get lastDepth(): number {
    return this.#depth;
  }

  /** The queue as it is after this was called. */
  async refresh(): Promise<QueueSeen> {
    const { queue, observedAt } = await this.#table.refresh();
    this.#depth = queue.depth;
    return { queue, observedAt };
  }
}

/** The mark is read first: what a page is too early or too late for has been changed since then. */
async function readWholeQueue(database: Database): Promise<{ copy: QueueMemory; mark: SnapshotMark }> {
  const mark = await database.ask(readSnapshotMark());
  const copy = new QueueMemory();
  let page = await database.ask(readQueuedRuns(PAGE, undefined));
  while (page.length === PAGE) {
    [page] = await Promise.all([database.ask(readQueuedRuns(PAGE, page.at(-1))), putPage(database, page, copy)]);
  }
  await putPage(database, page, copy);
  return { copy, mark };
}

/** What runs require can be long, and is the same for many: it is read for one of each signature that is not known. */
async function putPage(database: Database, page: RunState[], copy: QueueMemory): Promise<void> {
  const unknown = new Map<string, RunState>();
  for (const run of page) if (copy.queue.requirementsOf(run.signature) === undefined) unknown.set(run.signature, run);
  if (unknown.size > 0) {
    const ids = [...unknown.values()].map(({ run_id }) => run_id);
    const requires = await database.ask(readRequires(ids));
    for (const run of unknown.values()) run.requires = requires.get(run.run_id);
  }
  copy.put(page);
}

import { Injectable, Logger } from '@nestjs/common';
import { Database } from '../platform/database/database.js';
import { CommitUnknown } from '../platform/database/faults.js';
import { QueueService } from '../queue/queue.service.js';
import type { Why } from '../queue/why.js';
import { readUnsealed } from '../records/read-unsealed.sql.js';
import { SealRecord } from '../records/seal-record.js';
import { DeleteLeftover } from './delete-leftover.js';
import { ExpireRun } from './expire-run.js';
import { findExpired, findLeftovers } from './find-reapable.sql.js';

/** What one pass did. */
export interface ReaperCounts {
  /** Runs ended since a lease ran out. */
  expired: number;
  /** Leases deleted that had outlived their run. */
  leftovers: number;
  /** Records finished. */
  sealed: number;
  /** Parts of the pass that failed; the others went on. */
  errors: number;
}

const SEALS_PER_PASS = 1000;

/**
 * One pass of the reaper: ends runs whose nodes fell silent, clears what is left over, makes up for what is owed, wakes
 * once if it released something, and finishes records. Each part asks its condition again under the run's lock. It never
 * touches a QUEUED run. The loop around it is the Reaper.
 */
@Injectable()
export class ReaperPass {
  readonly #logger = new Logger('reaper');

  constructor(
    private readonly database: Database,
    private readonly expireRun: ExpireRun,
    private readonly deleteLeftover: DeleteLeftover,
    private readonly record: SealRecord,
    private readonly queue: QueueService,
  ) {}

  async run(): Promise<ReaperCounts> {
    const counts: ReaperCounts = { expired: 0, leftovers: 0, sealed: 0, errors: 0 };
    // A COMMIT without an answer may have released: it counts as if it had.
    let unknown = false;
    const part = async <T>(
      name: string,
      find: () => Promise<T[]>,
      each: (found: T) => Promise<unknown>,
    ): Promise<void> => {
      try {
        for (const found of await find()) {
          await each(found).catch((error: unknown) => {
            unknown ||= error instanceof CommitUnknown;
            this.#failed(counts, name, error);
          });
        }
      } catch (error) {
        this.#failed(counts, name, error);
      }
    };

    await part(
      'expiry',
      () => findExpired(this.database),
      async (runId) => {
        if (await this.expireRun.expire(runId)) counts.expired += 1;
      },
    );
    await part(
      'leftovers',
      () => findLeftovers(this.database),
      async ({ node_id, run_id }) => {
        if (await this.deleteLeftover.delete(node_id, run_id)) counts.leftovers += 1;
      },
    );

    const whys: Why[] = [];
    if (counts.expired + counts.leftovers > 0 || unknown) whys.push('reaper');
    if (this.queue.owed) whys.push('owed');
    if (whys.length > 0) await this.queue.wake(...whys);

    await part(
      'seals',
      () => readUnsealed(this.database, SEALS_PER_PASS),
      async (runId) => {
        counts.sealed += await this.record.seal([runId]);
      },
    );
    return counts;
  }

  #failed(counts: ReaperCounts, part: string, error: unknown): void {
    counts.errors += 1;
    this.#logger.error({ msg: 'a part of a reaper pass failed', part, err: error });
  }
}

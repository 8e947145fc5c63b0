import { Injectable } from '@nestjs/common';
import { Database } from '../platform/database/database.js';
import type { Keyset } from '../platform/http/cursor.js';
import { ExplainWaiting } from './explain-waiting.js';
import { readDepth, readQueuePage } from './read-queue-page.sql.js';
import type { QueueDto } from './waiting.dto.js';

/** A page of the queue as it is shown. */
@Injectable()
export class ShowQueue {
  constructor(
    private readonly database: Database,
    private readonly waiting: ExplainWaiting,
  ) {}

  async page(limit: number, after?: Keyset): Promise<Omit<QueueDto, 'next'> & { next?: Keyset }> {
    const { depth, observed_at } = await readDepth(this.database);
    const rows = await readQueuePage(this.database, limit + 1, after);
    const shown = rows.slice(0, limit);
    const explained = await this.waiting.explain(shown);
    return {
      observed_at: observed_at.toISOString(),
      depth,
      items: shown.map(({ run_id, work_id, principal, created_at, requires }) => ({
        run_id,
        work_id,
        principal,
        created_at: created_at.toISOString(),
        requires,
        waiting: explained.get(run_id)!,
      })),
      next: rows.length > limit ? shown.at(-1)?.place : undefined,
    };
  }
}

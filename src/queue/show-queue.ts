import { Injectable } from '@nestjs/common';
import type { Requirement } from '../domain/contract/contract.js';
import { rawJson } from '../domain/json/raw-json.js';
import { queuePositions } from '../domain/waiting/queue-positions.js';
import { FleetView } from '../fleet/fleet-view.js';
import { Database } from '../platform/database/database.js';
import type { Keyset } from '../platform/http/cursor.js';
import { fillPage, PAGE_BYTES, withinBytes } from '../platform/http/fill-page.js';
import { arrivalKeyOf } from './arrival-key-of.js';
import { ExplainWaiting, mostWaitingBytes } from './explain-waiting.js';
import { QueueView } from './queue-view.js';
import { type QueueRow, readQueuePage } from './queue.sql.js';
import type { QueueDto, QueueItemDto, WaitingDto } from './waiting.dto.js';

/** A page of the queue as it is shown. */
@Injectable()
export class ShowQueue {
  constructor(
    private readonly database: Database,
    private readonly fleet: FleetView,
    private readonly queue: QueueView,
    private readonly waiting: ExplainWaiting,
  ) {}

  /**
   * Depth, order and positions are of one look, taken from it at once. A run that has left since is shown as it was then:
   * without it there would be a gap in the positions, and the page would not be the queue of any moment.
   */
  async page(limit: number, after?: Keyset): Promise<Omit<QueueDto, 'next'> & { next?: Keyset }> {
    const fleet = await this.fleet.refresh();
    const { queue, observedAt } = await this.queue.refresh();
    const { depth } = queue;
    const runs = queue.page(limit + 1, after && arrivalKeyOf(after));
    const asked = runs
      .slice(0, limit)
      .map((run) => ({ ...run, requires: queue.requirementsOf(run.signature)!.requires }));
    const shown = withinBytes(asked, ({ requires }) => JSON.stringify(requires).length, PAGE_BYTES);
    const positions = queuePositions(queue, fleet.adverts, shown);

    const ids = shown.map(({ run_id }) => run_id);
    const rows = ids.length === 0 ? [] : await this.database.ask(readQueuePage(ids));
    const read = rows.map((row) => ({ row, requires: JSON.parse(row.requires) as Requirement[] }));
    const items = await fillPage(read, {
      most: ({ row, requires }) => row.requires.length + mostWaitingBytes(requires),
      show: async (some) => {
        const theirs = some.map(({ row }) => positions[ids.indexOf(row.run_id)]!);
        const required = some.map(({ row, requires }) => ({ ...row, requires }));
        const waiting = await this.waiting.explainAt(fleet, required, theirs);
        return some.map(({ row }) => itemOf(row, waiting.get(row.run_id)!));
      },
    });
    return {
      observed_at: new Date(observedAt).toISOString(),
      depth,
      items,
      next: items.length < runs.length ? rows[items.length - 1]?.place : undefined,
    };
  }
}

function itemOf({ run_id, work_id, principal, created_at, requires }: QueueRow, waiting: WaitingDto): QueueItemDto {
  return {
    run_id,
    work_id,
    principal,
    created_at: created_at.toISOString(),
    requires: rawJson<Requirement[]>(requires),
    waiting,
  };
}

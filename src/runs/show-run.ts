import { Injectable } from '@nestjs/common';
import type { Requirement } from '../domain/contract/contract.js';
import { rawJson } from '../domain/json/raw-json.js';
import { Database } from '../platform/database/database.js';
import type { Keyset } from '../platform/http/cursor.js';
import { fillPage } from '../platform/http/fill-page.js';
import { ExplainWaiting, mostWaitingBytes, type QueuedPlace } from '../queue/explain-waiting.js';
import type { WaitingDto } from '../queue/waiting.dto.js';
import { shownVersion } from './run-version.js';
import type { RunDto, RunSummaryDto } from './run.dto.js';
import { readStored, type StoredRun, readRunPage, type RunFilter, type RunRow, type StepRow } from './runs.sql.js';
import type { StepDto, StepResultDto } from './step.dto.js';

/** Runs as they are shown: a queued one with the reason why it waits. */
@Injectable()
export class ShowRun {
  constructor(
    private readonly database: Database,
    private readonly waiting: ExplainWaiting,
  ) {}

  /** Undefined where there is no such run. */
  async one(runId: string): Promise<RunDto | undefined> {
    const stored = await readStored(this.database, runId);
    return stored && this.stored(stored);
  }

  async stored({ row, steps }: StoredRun): Promise<RunDto> {
    const waiting = await this.waiting.explain(queued([row]));
    return { ...summaryOf(row, waiting.get(row.run_id)), steps: steps.map(stepOf) };
  }

  /** At most so many, and no more than fill a page. */
  async page(filter: RunFilter, limit: number, before?: Keyset): Promise<{ items: RunSummaryDto[]; next?: Keyset }> {
    const { rows, more } = await this.database.ask(readRunPage(filter, limit, before));
    const read = rows.map((row) => ({ row, queued: queued([row]) }));
    const items = await fillPage(read, {
      most: ({ row, queued }) => row.bytes + queued.reduce((sum, { requires }) => sum + mostWaitingBytes(requires), 0),
      show: async (some) => {
        const waiting = await this.waiting.explain(some.flatMap(({ queued }) => queued).reverse());
        return some.map(({ row }) => summaryOf(row, waiting.get(row.run_id)));
      },
    });
    return { items, next: more || items.length < rows.length ? rows[items.length - 1]?.place : undefined };
  }
}

function queued(rows: RunRow[]): QueuedPlace[] {
  return rows.flatMap(({ state, requires, queued_at, ...row }) => {
    if (state !== 'QUEUED' || queued_at === null) return [];
    return [{ ...row, queued_at, requires: JSON.parse(requires) as Requirement[] }];
  });
}

function summaryOf(row: RunRow, waiting: WaitingDto | undefined): RunSummaryDto {
  return {
    run_id: row.run_id,
    state: row.state,
    version: shownVersion(row),
    principal: row.principal,
    work_id: row.work_id,
    ...(row.work !== null && { work: rawJson<Record<string, unknown>>(row.work) }),
    requires: rawJson<Requirement[]>(row.requires),
    assigned: row.assigned ?? [],
    ...(waiting && { waiting }),
    ...(row.verdict && { verdict: row.verdict }),
    record: { state: row.purged ? 'PURGED' : row.digest === null ? 'OPEN' : 'SEALED', digest: row.digest },
    created_at: row.created_at.toISOString(),
    started_at: row.started_at?.toISOString() ?? null,
    ended_at: row.ended_at?.toISOString() ?? null,
  };
}

function stepOf({ chosen, result, ...row }: StepRow): StepDto {
  return {
    ...row,
    node_id: row.node_id === '' ? null : row.node_id,
    ...(chosen && { chosen }),
    started_at: row.started_at?.toISOString() ?? null,
    ended_at: row.ended_at?.toISOString() ?? null,
    ...(result !== null && { result: rawJson<StepResultDto>(result) }),
  };
}
